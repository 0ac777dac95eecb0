/* Owns the reading of our own CSV: every property of a job has a column, and a
 * column or field that is left out has a default. docs/traces.md describes
 * them. write.c writes what this file reads. */
#include <math.h>
#include <string.h>

#include "sim/devices.h"
#include "sim/trace/own.h"
#include "sim/trace/reader.h"
#include "sim/trace/spelling.h"

const struct column own_columns[OWN_COLUMNS + 1] = {
    [OWN_ID] = {"id", true},
    [OWN_SUBMIT] = {"submit", true},
    [OWN_WORK] = {"work", false},
    [OWN_DURATION] = {"duration", false},
    [OWN_UNIT] = {"unit", false},
    [OWN_REQ] = {"req", false},
    [OWN_MIN] = {"min", false},
    [OWN_MAX] = {"max", false},
    [OWN_KIND] = {"kind", false},
    [OWN_TYPE] = {"type", false},
    [OWN_DEADLINE] = {"deadline", false},
    [OWN_DEADLINE_AT] = {"deadline_at", false},
    [OWN_WEIGHT] = {"weight", false},
    [OWN_MEMORY] = {"memory", false},
    [OWN_DEVICES] = {"devices", false},
    [OWN_CPUS_PER_GPU] = {"cpus_per_gpu", false},
    [OWN_WHOLE] = {"whole", false},
    [OWN_PREEMPT] = {"preempt", false},
    [OWN_SPEEDS] = {"speeds", false},
    [OWN_LOSS] = {"loss", false},
    [OWN_TARGET] = {"target", false},
    [OWN_RESTART] = {"restart", false},
    [OWN_RESIZE] = {"resize", false},
    [OWN_MOVE] = {"move", false},
    [OWN_CHECKPOINT] = {"checkpoint", false},
    [OWN_GROUP] = {"group", false},
    [OWN_COLUMNS] = {NULL, false},
};

/* CPU or GPU, and of which type. */
static int read_pool(const struct trace_reader *r, struct job *j, struct err *err)
{
    const struct table *t = &r->table;
    const struct cluster *c = r->options->cluster;
    int unit = 0;
    if (table_has(t, OWN_UNIT) && table_choice(t, OWN_UNIT, "gpu|cpu", &unit, err) < 0)
        return -1;
    j->pool = unit ? POOL_CPU : POOL_ANY_GPU;
    j->whole = unit != 0;
    if (!table_has(t, OWN_TYPE))
        return 0;
    if (unit)
        return table_fail(t, OWN_TYPE, err, "expected no GPU type for a job on CPUs");
    unsigned pool = c ? cluster_gpu_pool(c, table_text(t, OWN_TYPE)) : POOLS_MAX;
    if (pool == POOLS_MAX)
        return table_fail(t, OWN_TYPE, err, "the cluster has no such GPU type");
    j->pool = (uint8_t)pool;
    return 0;
}

/* Jobs with the same list share its curves. */
static int read_speeds(struct trace_reader *r, struct job *j, struct err *err)
{
    const struct table *t = &r->table;
    const char *text = table_text(t, OWN_SPEEDS);
    struct spelt_speeds curves;
    struct err why;
    uint32_t at;
    if (!table_has(t, OWN_SPEEDS))
        return 0;
    if (!map_get(&r->speeds_index, text, &at)) {
        if (speeds_parse(text, r->options->cluster, r->arena, &curves, &why) < 0)
            return table_fail(t, OWN_SPEEDS, err, "%s", why.text);
        at = (uint32_t)r->curves.n;
        map_add(&r->speeds_index, arena_strdup(r->arena, text), at);
        VEC_PUSH(&r->curves, curves);
    }
    j->speeds = r->curves.at[at].at;
    j->nspeeds = r->curves.at[at].n;
    return j->nspeeds > 1 && j->pool == POOL_CPU
               ? table_fail(t, OWN_SPEEDS, err, "expected no GPU types for a job on CPUs")
               : 0;
}

/* The curve that work is counted on; NULL = linear. */
static const struct speed *reference(const struct job *j)
{
    if (!j->speeds)
        return NULL;
    return job_speed(j, j->pool == POOL_ANY_GPU ? POOL_GPU : j->pool);
}

/* Sizes of a job that is not rigid and does not give them: from the smallest to
 * the fastest that it has a speed for, or from one unit to what it asks for. */
static void default_sizes(struct job *j)
{
    const struct speed *s = reference(j);
    units_t all = s ? (units_t)s->len * UNIT : 0;
    if (!j->min)
        j->min = s ? speed_next(s, 0, all) : j->req && j->req < UNIT ? j->req : UNIT;
    if (!j->max)
        j->max = s ? speed_best(s, all) : j->req > j->min ? j->req : j->min;
    if (!j->req)
        j->req = j->min;
}

static int read_sizes(struct trace_reader *r, struct job *j, struct err *err)
{
    static const int columns[] = {OWN_REQ, OWN_MIN, OWN_MAX};
    units_t *const to[] = {&j->req, &j->min, &j->max};
    const struct table *t = &r->table;
    int kind = JOB_RIGID;
    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        if (!table_has(t, columns[i]))
            continue;
        if (table_units(t, columns[i], j->pool == POOL_CPU ? 1 : UNIT, to[i], err) < 0)
            return -1;
        if (j->pool != POOL_CPU && *to[i] % UNIT)
            return table_fail(t, columns[i], err, "a number of GPUs must be a whole number");
        if (reader_check_size(r, columns[i], *to[i], j, err) < 0)
            return -1;
    }
    if (table_has(t, OWN_KIND)) {
        if (table_choice(t, OWN_KIND, "rigid|moldable|malleable", &kind, err) < 0)
            return -1;
    } else if (j->min || j->max) {
        kind = JOB_MALLEABLE;
    }
    j->kind = (enum job_kind)kind;
    if (kind != JOB_RIGID) {
        default_sizes(j);
        return reader_check_sizes(r, OWN_REQ, OWN_MIN, OWN_MAX, j, err);
    }
    if (!j->req)
        j->req = j->min ? j->min : reference(j) ? speed_next(reference(j), 0, INT64_MAX) : UNIT;
    if ((j->min && j->min != j->req) || (j->max && j->max != j->req))
        return table_fail(t, OWN_KIND, err, "expected no min and max but req for a rigid job");
    return 0;
}

static int read_work(const struct trace_reader *r, struct job *j, struct err *err)
{
    const struct table *t = &r->table;
    bool work = table_has(t, OWN_WORK), duration = table_has(t, OWN_DURATION);
    if (work == duration)
        return csv_fail(&t->csv, t->width, err,
                        work ? "both work and duration; expected one of them"
                             : "no work; expected 'work' (on one unit) or 'duration' (on req)");
    if (table_work(t, work ? OWN_WORK : OWN_DURATION, &j->work, err) < 0)
        return -1;
    if (duration) {
        const struct speed *s = reference(j);
        j->work *= s ? speed_at(s, j->req) : (double)j->req / UNIT;
    }
    return 0;
}

static int read_deadline(const struct trace_reader *r, struct job *j, struct err *err)
{
    const struct table *t = &r->table;
    bool relative = table_has(t, OWN_DEADLINE);
    int column = relative ? OWN_DEADLINE : OWN_DEADLINE_AT;
    usec_t v;
    if (!table_has(t, column))
        return 0;
    if (relative && table_has(t, OWN_DEADLINE_AT))
        return table_fail(t, OWN_DEADLINE_AT, err, "there is a 'deadline' too; expected one");
    if (table_time(t, column, &v, err) < 0)
        return -1;
    return reader_set_deadline(r, column, relative ? j->submit + v : v, j, err);
}

/* A cluster that says nothing of CPUs has none beside its GPUs. */
static bool lacks_cpus(const struct cluster *c)
{
    bool gpus = false;
    for (uint32_t i = 0; c && i < c->n; i++) {
        if (c->nodes[i].gpus && c->nodes[i].cpus)
            return false;
        gpus = gpus || c->nodes[i].gpus;
    }
    return gpus;
}

static int read_devices(const struct trace_reader *r, struct devices *out, struct err *err)
{
    const struct cluster *c = r->options->cluster;
    const char *names[DEVICES_MAX] = {NULL}, *text = table_text(&r->table, OWN_DEVICES);
    if (c)
        memcpy(names, c->device_names, sizeof names);
    return devices_parse(text, strlen(text), names, NULL, out, err);
}

static int read_needs(const struct trace_reader *r, struct job *j, struct err *err)
{
    const struct table *t = &r->table;
    struct err why;
    int choice;
    if (table_has(t, OWN_WEIGHT) && table_double(t, OWN_WEIGHT, 1e-6, 1e6, &j->weight, err) < 0)
        return -1;
    if (table_has(t, OWN_MEMORY) &&
        memory_parse(table_text(t, OWN_MEMORY), &j->memory_mb, &why) < 0)
        return table_fail(t, OWN_MEMORY, err, "%s", why.text);
    if (table_has(t, OWN_DEVICES) && read_devices(r, &j->devices, &why) < 0)
        return table_fail(t, OWN_DEVICES, err, "%s", why.text);
    if (table_has(t, OWN_CPUS_PER_GPU)) {
        if (table_units(t, OWN_CPUS_PER_GPU, 0, &j->cpus, err) < 0)
            return -1;
        if (j->cpus && j->pool == POOL_CPU)
            return table_fail(t, OWN_CPUS_PER_GPU, err, "expected 0 for a job on CPUs");
        if (j->cpus && lacks_cpus(r->options->cluster))
            return table_fail(t, OWN_CPUS_PER_GPU, err,
                              "the cluster's GPU nodes have no CPUs; write --nodes 16x4+32c");
    }
    if (table_has(t, OWN_WHOLE)) {
        if (table_choice(t, OWN_WHOLE, "no|yes", &choice, err) < 0)
            return -1;
        j->whole = choice != 0;
    }
    if (table_has(t, OWN_PREEMPT)) {
        if (table_choice(t, OWN_PREEMPT, "restart|pause|never|freeze", &choice, err) < 0)
            return -1;
        j->can_pause = choice == 1 || choice == 3;
        j->no_restart = choice == 3;
        j->no_preempt = choice == 2;
    }
    return 0;
}

static int read_metric(const struct trace_reader *r, struct job *j, struct err *err)
{
    const struct table *t = &r->table;
    struct err why;
    if (table_has(t, OWN_LOSS) && loss_parse(table_text(t, OWN_LOSS), &j->loss, &why) < 0)
        return table_fail(t, OWN_LOSS, err, "%s", why.text);
    if (!table_has(t, OWN_TARGET))
        return 0;
    return table_double(t, OWN_TARGET, -1e12, 1e12, &j->target, err);
}

static int read_costs(const struct trace_reader *r, struct job *j, struct err *err)
{
    static const int columns[] = {OWN_RESTART, OWN_RESIZE, OWN_MOVE, OWN_CHECKPOINT};
    usec_t *const to[] = {&j->cost.restart, &j->cost.resize, &j->cost.move, &j->cost.checkpoint};
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        if (table_has(&r->table, columns[i]) && table_time(&r->table, columns[i], to[i], err) < 0)
            return -1;
    return 0;
}

static int own_row(struct trace_reader *r, struct job *j, struct err *err)
{
    if (read_pool(r, j, err) < 0 || read_speeds(r, j, err) < 0 || read_sizes(r, j, err) < 0 ||
        read_work(r, j, err) < 0 || read_deadline(r, j, err) < 0 || read_needs(r, j, err) < 0 ||
        read_metric(r, j, err) < 0)
        return -1;
    j->group = reader_intern(r, table_text(&r->table, OWN_GROUP));
    return read_costs(r, j, err);
}

const struct trace_format trace_own = {.name = "trainyard",
                                       .columns = own_columns,
                                       .id = OWN_ID,
                                       .submit = OWN_SUBMIT,
                                       .row = own_row};
