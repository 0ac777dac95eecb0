/* Owns how the parameters of a sweep's member are shown. */
#include "server/api/job_parameters.h"

#include <string.h>

#include "wire/spec_lists.h"
#include "wire/sweep.h"

/* The stored sweep, which was checked when it was submitted; empty if there is none. */
static void read_sweep(const struct job_row *row, struct spec *s)
{
    json_auto_t *stored = json_loads(row->sweep ? row->sweep : "", 0, NULL);
    const char *name;
    json_t *values;
    uint32_t n;
    struct err err;
    json_object_foreach(stored, name, values)
    {
        struct str parameter = {0};
        const char *text = json_string_value(values);
        str_addf(&parameter, "%s=%s", name, text ? text : "");
        (void)spec_env_add(s, &s->sweep, parameter.at, &err);
        str_done(&parameter);
    }
    if (sweep_count(&s->sweep, &n, &err) < 0)
        s->sweep.n = 0;
}

static void fill_words(const struct spec_list *sweep, uint32_t k, json_t *command)
{
    for (size_t i = 0; i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        struct str filled = {0};
        sweep_fill(sweep, k, word ? word : "", &filled);
        json_array_set_new(command, i, json_string(filled.at));
        str_done(&filled);
    }
}

json_t *job_parameters(const struct job_row *row, json_t *command)
{
    json_t *out = NULL;
    struct spec s;
    spec_init(&s);
    read_sweep(row, &s);
    if (s.sweep.n) {
        uint32_t k = (uint32_t)row->array_index;
        out = json_object();
        for (uint32_t p = 0; p < s.sweep.n; p++) {
            struct str value = {0};
            const char *parameter = s.sweep.at[p];
            AUTO_FREE char *name = xstrndup(parameter, strcspn(parameter, "="));
            sweep_value(&s.sweep, p, k, &value);
            json_object_set_new(out, name, json_string(value.at));
            str_done(&value);
        }
        fill_words(&s.sweep, k, command);
    }
    spec_done(&s);
    return out;
}
