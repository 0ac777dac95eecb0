/* Owns the traces of Gavel (OSDI'20) and Shockwave (NSDI'23). Jobs are rigid.
 * With a table of steps a second per GPU type they run at that type's rate, and
 * the cluster may mix types, of which those without a rate for the job are not
 * offered; without it the trace must give the durations, as
 * Shockwave's do. Changes of the batch size over time (`mode`) are not
 * modelled. */
#include <string.h>

#include "sim/trace/reader.h"

enum { ID, TYPE, STEPS, GPUS, SUBMIT, WEIGHT, SLO, DURATION };

static const struct column columns[] = {{"job_id", true},      {"job_type", true},
                                        {"total_steps", true}, {"num_gpus", true},
                                        {"arrival_s", true},   {"priority_weight", false},
                                        {"slo", false},        {"duration_s", false},
                                        {"mode", false},       {NULL, false}};

/* The curves without the types that have no rate for so many GPUs; NULL when none has. */
static const struct speed *curves_with(const struct scaling *s, units_t gpus, struct arena *a)
{
    unsigned first = s->nspeeds > 1 ? POOL_GPU : 0, able = 0;
    struct speed *curves = ARENA_ARRAY(a, s->nspeeds, struct speed);
    for (unsigned i = first; i < s->nspeeds; i++) {
        bool runs = speed_floor(&s->speeds[i], gpus) == gpus;
        curves[i] = runs ? s->speeds[i] : speed_none();
        able += runs;
    }
    return able ? curves : NULL;
}

static int set_rates(struct trace_reader *r, units_t gpus, struct job *j, struct err *err)
{
    const struct scaling *s;
    double steps;
    if (table_double(&r->table, STEPS, 0, 1e15, &steps, err) < 0 ||
        reader_scaling(r, TYPE, -1, &s, err) < 0)
        return -1;
    scaling_apply(s, steps, j);
    j->step = steps > 0 ? j->work / steps : 0;
    j->speeds = curves_with(s, gpus, r->arena);
    if (!j->speeds)
        return table_fail(&r->table, GPUS, err,
                          "%s has no rate for so many GPUs of any type of the cluster",
                          r->profiles.name);
    j->kind = JOB_RIGID;
    j->req = j->min = j->max = gpus;
    return 0;
}

/* Who can share GPUs with this job, if pairs were measured. */
static int set_sharing(struct trace_reader *r, units_t gpus, struct job *j, struct err *err)
{
    uint32_t n = (uint32_t)(gpus / UNIT);
    if (!r->options->colocated)
        return 0;
    struct pair_kind *k = pairs_kind(&r->pairs, j->group, n, r->arena);
    for (unsigned i = 0; i < r->ntypes; i++) {
        struct rates rates;
        if (profiles_rates(&r->profiles, r->types[i], j->group, "", r->arena, &rates, err) < 0)
            return -1;
        k->alone[POOL_GPU + i] = n <= rates.n ? rates.at[n - 1] : 0;
    }
    j->sharing = k->sharing;
    return 0;
}

static int gavel_row(struct trace_reader *r, struct job *j, struct err *err)
{
    const struct table *t = &r->table;
    units_t gpus;
    usec_t duration;
    if (reader_gpus(r, GPUS, &gpus, err) < 0)
        return -1;
    if (table_has(t, WEIGHT) && table_double(t, WEIGHT, 1e-6, 1e6, &j->weight, err) < 0)
        return -1;
    if (table_has(t, SLO) && table_text(t, SLO)[0] != '-')
        return table_fail(t, SLO, err, "expected -1: deadlines of Gavel are not supported");
    j->group = reader_intern(r, table_text(t, TYPE));
    if (r->profiles.kind)
        return set_rates(r, gpus, j, err) < 0 ? -1 : set_sharing(r, gpus, j, err);
    if (!table_has(t, DURATION))
        return table_fail(t, TYPE, err, "no duration_s: give --profiles FILE with the columns %s",
                          profiles_layout(PROFILES_JOB_TYPES));
    if (table_time(t, DURATION, &duration, err) < 0)
        return -1;
    reader_set_rigid(j, gpus, (double)duration);
    return 0;
}

const struct trace_format trace_gavel = {.name = "gavel",
                                         .columns = columns,
                                         .id = ID,
                                         .submit = SUBMIT,
                                         .profiles = PROFILES_JOB_TYPES,
                                         .colocated = true,
                                         .row = gavel_row};
