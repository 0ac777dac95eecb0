/* Owns what the readers of the trace formats share: interned texts, the cache
 * of speed curves by model, and the common rules of a job. */
#include "sim/trace/reader.h"

#include <stdio.h>
#include <string.h>

#include "sim/trace/pollux.h"

const char *reader_intern(struct trace_reader *r, const char *text)
{
    uint32_t at;
    if (!*text)
        return NULL;
    if (map_get(&r->interned, text, &at))
        return r->texts.at[at];
    const char *copy = arena_strdup(r->arena, text);
    map_add(&r->interned, copy, (uint32_t)r->texts.n);
    VEC_PUSH(&r->texts, copy);
    return copy;
}

static int fail_model(const struct trace_reader *r, int model, int batch, struct err *err)
{
    const char *name = table_text(&r->table, model);
    const char *near = profiles_nearest(&r->profiles, name);
    if (near && !strcmp(near, name))
        return table_fail(&r->table, batch >= 0 ? batch : model, err,
                          "%s has no rates for %s of this size on the cluster's GPUs",
                          r->profiles.name, near);
    return table_fail(&r->table, model, err, "not in %s%s%s%s", r->profiles.name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int scaling_create(struct trace_reader *r, int model, int batch, struct scaling **out,
                          struct err *err)
{
    struct rates rates[POOLS_MAX - 1];
    const char *name = table_text(&r->table, model);
    const char *size = batch >= 0 ? table_text(&r->table, batch) : "";
    struct scaling *s = ARENA_NEW(r->arena, struct scaling);
    double steps = 0;
    for (unsigned i = 0; i < r->ntypes; i++)
        if (profiles_rates(&r->profiles, r->types[i], name, size, r->arena, &rates[i], err) < 0)
            return table_prefix(&r->table, model, err);
    if (r->profiles.kind == PROFILES_DIRECTORY &&
        pollux_steps(r->profiles.directory, name, size, &steps, err) < 0)
        return table_prefix(&r->table, batch, err);
    if (scaling_init(s, r->arena, rates, r->ntypes) < 0)
        return fail_model(r, model, batch, err);
    s->steps = steps;
    *out = s;
    return 0;
}

int reader_scaling(struct trace_reader *r, int model, int batch, const struct scaling **out,
                   struct err *err)
{
    char key[512];
    struct scaling *s = NULL;
    uint32_t at;
    const char *name = table_text(&r->table, model);
    const char *size = batch >= 0 ? table_text(&r->table, batch) : "";
    if ((size_t)snprintf(key, sizeof key, "%s\x1f%s", name, size) >= sizeof key)
        return table_fail(&r->table, model, err, "expected a shorter name");
    if (map_get(&r->scaling_index, key, &at)) {
        *out = r->scalings.at[at];
        return 0;
    }
    if (scaling_create(r, model, batch, &s, err) < 0)
        return -1;
    map_add(&r->scaling_index, arena_strdup(r->arena, key), (uint32_t)r->scalings.n);
    VEC_PUSH(&r->scalings, s);
    *out = s;
    return 0;
}

int reader_gpus(const struct trace_reader *r, int column, units_t *out, struct err *err)
{
    int64_t n;
    if (table_int(&r->table, column, 1, 1000000, &n, err) < 0)
        return -1;
    *out = n * UNIT;
    return 0;
}

void reader_set_rigid(struct job *j, units_t gpus, double duration)
{
    j->kind = JOB_RIGID;
    j->pool = POOL_ANY_GPU;
    j->req = j->min = j->max = gpus;
    j->work = duration * (double)(gpus / UNIT);
}

void reader_set_malleable(const struct trace_reader *r, const struct scaling *s, double steps,
                          units_t asked, struct job *j)
{
    uint32_t max = r->options->all_sizes ? s->last : s->best;
    uint32_t n = (uint32_t)(asked / UNIT), req = scaling_floor(s, n < max ? n : max);
    scaling_apply(s, steps, j);
    j->kind = JOB_MALLEABLE;
    j->min = s->min * UNIT;
    j->max = max * UNIT;
    j->req = (req > s->min ? req : s->min) * UNIT;
}

int reader_check_size(const struct trace_reader *r, int column, units_t n, const struct job *j,
                      struct err *err)
{
    for (unsigned i = j->nspeeds > 1 ? POOL_GPU : 0; i < j->nspeeds; i++)
        if (speed_floor(&j->speeds[i], n) == n)
            return 0;
    return j->nspeeds ? table_fail(&r->table, column, err, "expected a size that has a speed") : 0;
}

int reader_check_sizes(const struct trace_reader *r, int req, int min, int max, const struct job *j,
                       struct err *err)
{
    const struct table *t = &r->table;
    double least = (double)j->min / UNIT, most = (double)j->max / UNIT;
    if (j->min > j->max)
        return table_fail(t, table_has(t, min) ? min : max, err,
                          "expected a smallest size of at most the largest, but they are %g and %g",
                          least, most);
    if (j->req < j->min || j->req > j->max)
        return table_fail(t,
                          table_has(t, req)   ? req
                          : table_has(t, min) ? min
                                              : max,
                          err, "expected a size from %g to %g", least, most);
    return 0;
}

int reader_set_deadline(const struct trace_reader *r, int column, usec_t deadline, struct job *j,
                        struct err *err)
{
    if (deadline <= j->submit)
        return table_fail(&r->table, column, err, "expected a deadline after the submission");
    if (deadline > USEC_LIMIT)
        return table_fail(&r->table, column, err, "expected a deadline within 290 years");
    j->deadline = deadline;
    return 0;
}
