/* Owns the command line that stands for a job request: an option for each field that is not at
 * its default, and the words of the command. */
#include "wire/spec_command.h"

#include <stdio.h>
#include <string.h>

#include "wire/spec_json.h"

static void add_word(struct str *out, const char *word)
{
    str_add(out, " ");
    str_add_shell(out, word);
}

static void add_option(struct str *out, const struct spec_field *f, const char *value)
{
    char name[SPEC_OPTION_SIZE];
    str_addf(out, " --%s", spec_option_name(f, name));
    if (value)
        add_word(out, value);
}

/* A number or a text. A memory limit that is a number is in MB. */
static void add_scalar(struct str *out, const struct spec_field *f, const json_t *value)
{
    char number[40] = "";
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld%s", (long long)json_integer_value(value),
                 f->type == SPEC_MEMORY ? "m" : "");
    else if (json_is_real(value))
        snprintf(number, sizeof number, "%.15g", json_real_value(value));
    add_option(out, f, json_is_string(value) ? json_string_value(value) : number);
}

static void add_list(struct str *out, const struct spec_field *f, json_t *list)
{
    json_t *value;
    size_t i;
    json_array_foreach(list, i, value) add_option(out, f, json_string_value(value));
}

static void add_map(struct str *out, const struct spec_field *f, json_t *map)
{
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value)
    {
        struct str pair = {0};
        str_addf(&pair, "%s=%s", key, json_string_value(value));
        add_option(out, f, pair.at);
        str_done(&pair);
    }
}

static void add_field(struct str *out, const struct spec_field *f, json_t *value)
{
    if (json_is_array(value))
        add_list(out, f, value);
    else if (json_is_object(value))
        add_map(out, f, value);
    else if (f->type == SPEC_FLAG)
        add_option(out, f, NULL); /* flags are off by default */
    else
        add_scalar(out, f, value);
}

void spec_command(const struct spec *s, struct str *out)
{
    json_auto_t *all = spec_to_json(s);
    str_add(out, "trainyard submit");
    for (const struct spec_field *f = spec_fields; f->name; f++) {
        json_t *value = json_object_get(all, f->name);
        if (value && !f->not_option)
            add_field(out, f, value);
    }
    str_add(out, s->script ? " -" : " --");
    /* The first word of a script's command is only its name. */
    for (uint32_t i = s->script ? 1 : 0; i < s->command.n; i++)
        add_word(out, s->command.at[i]);
}
