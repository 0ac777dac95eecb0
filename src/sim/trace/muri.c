/* Owns the format of Muri's simulator (SIGCOMM'22), which grew out of Tiresias'. Jobs are rigid.
 * Times are in milliseconds. An iteration has stages, each of which keeps one resource busy, so
 * jobs can share GPUs (model/sharing.h). A table of restart costs by model may be given. */
#include <math.h>
#include <stdio.h>

#include "sim/trace/reader.h"

enum {
    ID,
    GPUS,
    SUBMIT,
    DURATION,
    MODEL,
    ITERATION,
    ITERATIONS,
    STORAGE,
    CPU,
    GPU,
};

static const struct column columns[] = {{"job_id", true},           {"num_gpu", true},
                                        {"submit_time", true},      {"duration", true},
                                        {"model_name", false},      {"iteration_time", true},
                                        {"iterations", false},      {"resource_time_0", false},
                                        {"resource_time_1", false}, {"resource_time_2", false},
                                        {"batch_size", false},      {"interval", false},
                                        {"priority", false},        {NULL, false}};

/* What a job alone takes for an iteration, over the time in the trace (measured by Muri). */
#define ALONE 1.015

/* Jobs with the same times share one struct. */
static const struct sharing *intern_sharing(struct trace_reader *r, const struct sharing *s)
{
    char key[128];
    uint32_t at;
    snprintf(key, sizeof key, "%a %a %a %a", s->step, s->stage[0], s->stage[1], s->stage[2]);
    if (map_get(&r->sharing_index, key, &at))
        return r->sharings.at[at];
    struct sharing *copy = ARENA_NEW(r->arena, struct sharing);
    *copy = *s;
    copy->kind = (uint32_t)r->sharings.n;
    map_add(&r->sharing_index, arena_strdup(r->arena, key), copy->kind);
    VEC_PUSH(&r->sharings, copy);
    return copy;
}

/* A job without stage times shares with nobody. */
static int set_stages(struct trace_reader *r, double iteration, struct job *j, struct err *err)
{
    struct sharing s = {.step = iteration * ALONE};
    if (!table_has(&r->table, STORAGE) || !table_has(&r->table, CPU) || !table_has(&r->table, GPU))
        return 0;
    for (int i = 0; i < SHARING_STAGES; i++)
        if (table_double(&r->table, STORAGE + i, 0, 1e9, &s.stage[i], err) < 0)
            return -1;
    if (s.step > 0 && s.stage[0] + s.stage[1] + s.stage[2] > 0)
        j->sharing = intern_sharing(r, &s);
    return 0;
}

/* The cost of a restart, of this model on these GPUs; what is not in the table keeps its own. */
static int set_cost(struct trace_reader *r, units_t gpus, struct job *j, struct err *err)
{
    struct rates rates = {0};
    uint32_t n = (uint32_t)(gpus / UNIT);
    if (r->profiles.kind && profiles_rates(&r->profiles, "", table_text(&r->table, MODEL), "",
                                           r->arena, &rates, err) < 0)
        return -1;
    if (rates.at && n <= rates.n && rates.at[n - 1] > 0)
        j->cost.restart = j->cost.resize = j->cost.move = llround(rates.at[n - 1] * USEC_PER_SEC);
    if (r->options->iterations)
        j->cost = (struct job_cost){.decision = j->cost.restart};
    return 0;
}

static int muri_row(struct trace_reader *r, struct job *j, struct err *err)
{
    const double most = (double)(USEC_LIMIT / 1000);
    units_t gpus;
    double duration, iteration, iterations;
    if (reader_gpus(r, GPUS, &gpus, err) < 0 ||
        table_double(&r->table, DURATION, 0, most, &duration, err) < 0 ||
        table_double(&r->table, ITERATION, 0, most, &iteration, err) < 0)
        return -1;
    if (r->options->iterations) {
        if (table_double(&r->table, ITERATIONS, 0, 1e15, &iterations, err) < 0)
            return -1;
        duration = iterations * iteration * ALONE;
        if (!(duration <= most))
            return table_fail(&r->table, ITERATIONS, err, "expected a shorter job");
    }
    reader_set_rigid(j, gpus, round(duration * 1000));
    j->group = reader_intern(r, table_text(&r->table, MODEL));
    if (set_stages(r, iteration, j, err) < 0)
        return -1;
    return set_cost(r, gpus, j, err);
}

const struct trace_format trace_muri = {.name = "muri",
                                        .columns = columns,
                                        .id = ID,
                                        .submit = SUBMIT,
                                        .milliseconds = true,
                                        .profiles = PROFILES_RESTARTS,
                                        .row = muri_row};
