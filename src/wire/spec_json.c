/* Owns the JSON form of a job request. A scalar is taken as the text that a user
 * would write; lists and maps are arrays and objects. */
#include "wire/spec_json.h"

#include <math.h>
#include <stdio.h>

static int set_scalar(struct spec *s, const struct spec_field *f, const json_t *v,
                      struct err *err)
{
    char number[40];
    switch (json_typeof(v)) {
    case JSON_STRING:
        return spec_set(s, f, json_string_value(v), err);
    case JSON_INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
        return spec_set(s, f, number, err);
    case JSON_REAL:
        snprintf(number, sizeof number, "%.17g", json_real_value(v));
        return spec_set(s, f, number, err);
    case JSON_TRUE:
        return spec_set(s, f, "true", err);
    case JSON_FALSE:
        return spec_set(s, f, "false", err);
    default:
        return err_set(err, ERR_INVALID, "%s: expected text or a number", f->name);
    }
}

static int set_array(struct spec *s, const struct spec_field *f, const json_t *v,
                     struct err *err)
{
    size_t i;
    json_t *item;
    if (f->type != SPEC_LIST && f->type != SPEC_DEPS)
        return err_set(err, ERR_INVALID, "%s: expected one value, not a list", f->name);
    json_array_foreach(v, i, item)
        if (set_scalar(s, f, item, err) < 0)
            return -1;
    return 0;
}

static int set_object(struct spec *s, const struct spec_field *f, json_t *v, struct err *err)
{
    const char *key;
    json_t *item;
    if (f->type != SPEC_MAP)
        return err_set(err, ERR_INVALID, "%s: expected one value, not an object", f->name);
    json_object_foreach(v, key, item)
    {
        if (!json_is_string(item))
            return err_set(err, ERR_INVALID, "%s: the value of %s is not text", f->name, key);
        size_t size = strlen(key) + json_string_length(item) + 2;
        AUTO_FREE char *pair = xmalloc(size);
        snprintf(pair, size, "%s=%s", key, json_string_value(item));
        if (spec_set(s, f, pair, err) < 0)
            return -1;
    }
    return 0;
}

int spec_from_json(const json_t *object, struct spec *s, const char **field, struct err *err)
{
    const char *key;
    json_t *v;
    *field = NULL;
    if (!json_is_object(object))
        return err_set(err, ERR_INVALID, "expected a JSON object");
    json_object_foreach((json_t *)object, key, v)
    {
        *field = key;
        const struct spec_field *f = spec_find(key, err);
        if (!f)
            return -1;
        int rc = json_is_array(v)    ? set_array(s, f, v, err)
                 : json_is_object(v) ? set_object(s, f, v, err)
                 : json_is_null(v)   ? 0
                                     : set_scalar(s, f, v, err);
        if (rc < 0)
            return -1;
    }
    *field = NULL;
    return 0;
}

static json_t *span(double min, double max)
{
    char text[64];
    if (min == max)
        return json_real(min);
    snprintf(text, sizeof text, "%g-%g", min, max);
    return json_string(text);
}

static void add_text(json_t *o, const char *name, const char *text)
{
    if (text)
        json_object_set_new(o, name, json_string(text));
}

static void add_duration(json_t *o, const char *name, usec_t value, usec_t preset)
{
    if (value != preset)
        json_object_set_new(o, name, json_real(time_seconds(value)));
}

static void add_list(json_t *o, const char *name, const struct spec_list *list)
{
    if (list->n == 0)
        return;
    json_t *array = json_array();
    for (uint32_t i = 0; i < list->n; i++)
        json_array_append_new(array, json_string(list->at[i]));
    json_object_set_new(o, name, array);
}

static void add_env(json_t *o, const struct spec_list *env)
{
    if (env->n == 0)
        return;
    json_t *map = json_object();
    for (uint32_t i = 0; i < env->n; i++) {
        const char *equals = strchr(env->at[i], '=');
        AUTO_FREE char *key = xstrndup(env->at[i], (size_t)(equals - env->at[i]));
        json_object_set_new(map, key, json_string(equals + 1));
    }
    json_object_set_new(o, "env", map);
}

static void add_signals(json_t *o, const struct spec *s, const struct spec *d)
{
    char text[64];
    if (s->signal) {
        snprintf(text, sizeof text, "%d@%g", s->signal, time_seconds(s->signal_before));
        json_object_set_new(o, "signal", json_string(text));
    }
    if (s->checkpoint_signal != d->checkpoint_signal)
        json_object_set_new(o, "checkpoint_signal", json_integer(s->checkpoint_signal));
}

static void add_deps(json_t *o, const struct spec *s)
{
    static const char *const names[] = {"after", "afterok", "afternotok", "afterany", "singleton"};
    if (s->deps.n == 0)
        return;
    json_t *array = json_array();
    for (uint32_t i = 0; i < s->deps.n; i++) {
        const struct spec_dep *d = &s->deps.at[i];
        json_array_append_new(array, d->job ? json_sprintf("%s:%s", names[d->kind], d->job)
                                            : json_string(names[d->kind]));
    }
    json_object_set_new(o, "after", array);
}

static void add_array(json_t *o, const struct spec *s)
{
    char text[64 * 40];
    size_t n = 0;
    if (s->array.n == 0)
        return;
    for (uint32_t i = 0; i < s->array.n && n < sizeof text - 40; i++) {
        const struct spec_range *r = &s->array.at[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u-%u:%u", i ? "," : "", r->first,
                              r->last, r->step);
    }
    if (s->array.limit)
        snprintf(text + n, sizeof text - n, "%%%u", s->array.limit);
    json_object_set_new(o, "array", json_string(text));
}

static void add_numbers(json_t *o, const struct spec *s, const struct spec *d)
{
    if (s->priority)
        json_object_set_new(o, "priority", json_integer(s->priority));
    if (s->weight != d->weight)
        json_object_set_new(o, "weight", json_real(s->weight));
    if (!isnan(s->target))
        json_object_set_new(o, "target", json_real(s->target));
    if (s->total > 0)
        json_object_set_new(o, "total", json_real(s->total));
    if (s->retries)
        json_object_set_new(o, "retries", json_integer(s->retries));
    if (s->deadline_at)
        json_object_set_new(o, "deadline_at", json_real(time_seconds(s->deadline_at)));
    if (s->memory_mb)
        json_object_set_new(o, "memory", json_integer(s->memory_mb));
    if (s->requeue)
        json_object_set_new(o, "requeue", json_true());
    if (s->hold)
        json_object_set_new(o, "hold", json_true());
}

json_t *spec_to_json(const struct spec *s)
{
    static const char *const resizes[] = {"auto", "none", "live", "restart", "torchrun", "horovod"};
    static const char *const preempts[] = {"restart", "pause", "never"};
    struct spec d;
    spec_init(&d);
    json_t *o = json_object();
    add_text(o, "name", s->name);
    add_list(o, "command", &s->command);
    json_object_set_new(o, "cpus", span((double)s->cpus_min / UNIT, (double)s->cpus_max / UNIT));
    if (s->gpus_max)
        json_object_set_new(o, "gpus",
                            span((double)s->gpus_min / UNIT, (double)s->gpus_max / UNIT));
    add_text(o, "gpu_type", s->gpu_type);
    if (s->workers_max > 1)
        json_object_set_new(o, "workers", span(s->workers_min, s->workers_max));
    if (s->resize != SPEC_RESIZE_AUTO)
        json_object_set_new(o, "resize", json_string(resizes[s->resize]));
    if (s->preempt != SPEC_PREEMPT_RESTART)
        json_object_set_new(o, "preempt", json_string(preempts[s->preempt]));
    add_duration(o, "deadline", s->deadline, 0);
    add_duration(o, "time_limit", s->time_limit, 0);
    add_duration(o, "grace", s->grace, d.grace);
    add_duration(o, "backoff", s->backoff, d.backoff);
    add_signals(o, s, &d);
    add_numbers(o, s, &d);
    add_text(o, "pattern", s->pattern);
    add_deps(o, s);
    add_array(o, s);
    add_text(o, "workdir", s->workdir);
    add_env(o, &s->env);
    add_text(o, "checkpoint_dir", s->checkpoint_dir);
    add_text(o, "image", s->image);
    add_list(o, "mounts", &s->mounts);
    add_text(o, "user", s->user);
    return o;
}
