/* Owns the fuzzing of job requests: YAML, scripts and JSON. Whatever the input, a
 * reader says yes or no; what it says yes to is written as JSON, and reads back as
 * the same request. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/slurm_calls.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"
#include "wire/spec_script.h"
#include "wire/spec_set.h"
#include "wire/spec_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

static void check_again(const struct spec *s)
{
    struct spec again;
    struct err err = {0};
    const char *field;
    json_t *one = spec_to_json(s);
    spec_init(&again);
    demand(spec_from_json(one, &again, &field, &err) == 0);
    json_t *two = spec_to_json(&again);
    demand(json_equal(one, two));
    demand(again.cpus.min == s->cpus.min && again.cpus.max == s->cpus.max);
    demand(again.time_limit == s->time_limit && again.deadline_at == s->deadline_at);
    demand(again.command.n == s->command.n && again.env.n == s->env.n);
    demand(again.after.n == s->after.n);
    demand(indices_count(&again.array) == indices_count(&s->array));
    spec_done(&again);
    json_decref(one);
    json_decref(two);
}

static void check_request(struct spec *s)
{
    struct err err = {0};
    const char *field = NULL;
    check_again(s);
    if (spec_check(s, &field, &err) < 0) {
        demand(field && err.text[0] && spec_find(field, NULL));
        return;
    }
    demand(s->name && *s->name && (s->command.n > 0 || s->image) && s->cpus.min >= 0 &&
           s->cpus.max >= s->cpus.min);
    demand(spec_words(s, "/p", &s->arena).n > 0 || s->image);
    check_again(s);
}

static int take(struct spec *s, void *ctx, struct err *err)
{
    (void)ctx;
    (void)err;
    check_request(s);
    return 0;
}

static void try_yaml(const char *text, size_t n)
{
    struct err err = {0};
    if (spec_read_yaml("fuzz", text, n, take, NULL, &err) < 0)
        demand(err.code != ERR_OK && !strncmp(err.text, "fuzz:", 5));
}

static void see_call(void *ctx, uint32_t line, const char *command)
{
    demand(ctx && line > 0 && *command);
}

static void try_script(const char *text, size_t n)
{
    struct spec s;
    struct spec_list ignored;
    struct err err = {0};
    spec_init(&s);
    if (spec_read_script("fuzz", text, n, &s, &ignored, &err) == 0) {
        demand(s.script && strlen(s.script) == n);
        slurm_find_calls(s.script, see_call, &s);
        check_request(&s);
    } else {
        demand(err.code != ERR_OK && !strncmp(err.text, "fuzz:", 5));
    }
    spec_done(&s);
}

static void try_json(const char *text, size_t n)
{
    struct spec s;
    struct err err = {0};
    const char *field;
    json_t *object = json_loadb(text, n, JSON_ALLOW_NUL, NULL);
    if (!object)
        return;
    spec_init(&s);
    if (spec_from_json(object, &s, &field, &err) == 0)
        check_request(&s);
    else
        demand(err.code == ERR_INVALID && err.text[0]);
    spec_done(&s);
    json_decref(object);
}

/* One field from any text: "name=text". */
static void try_field(const char *text, size_t n)
{
    char *copy = xstrndup(text, n), *equals = strchr(copy, '=');
    struct spec s;
    struct err err = {0};
    spec_init(&s);
    if (equals)
        *equals = '\0';
    const struct spec_field *f = equals ? spec_find(copy, &err) : NULL;
    if (f && spec_set(&s, f, equals + 1, &err) == 0)
        check_request(&s);
    spec_done(&s);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    try_yaml(text, size);
    try_script(text, size);
    try_json(text, size);
    try_field(text, size);
    return 0;
}
