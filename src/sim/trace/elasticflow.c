/* Owns the format of ElasticFlow's simulator (ASPLOS'23). With its throughput
 * table jobs are malleable between the sizes that the table has for their model
 * and batch size; without it they are rigid, `duration` being the run time on
 * num_gpu GPUs. Deadlines are absolute. */
#include "sim/trace/reader.h"

enum { ID, SUBMIT, STEPS, MODEL, DEADLINE, BATCH, GPUS, DURATION };

static const struct column columns[] = {
    {"job_id", true},         {"submit_time", true}, {"iteration", true},
    {"model_name", true},     {"ddl", true},         {"batch_size", true},
    {"num_gpu", true},        {"duration", true},    {"real_iteration", false},
    {"real_duration", false}, {"interval", false},   {NULL, false}};

static int set_malleable(struct trace_reader *r, units_t gpus, struct job *j, struct err *err)
{
    const struct scaling *s;
    double steps;
    if (table_double(&r->table, STEPS, 0, 1e15, &steps, err) < 0 ||
        reader_scaling(r, MODEL, BATCH, &s, err) < 0)
        return -1;
    reader_set_malleable(r, s, steps, gpus, j);
    return 0;
}

static int elasticflow_row(struct trace_reader *r, struct job *j, struct err *err)
{
    usec_t deadline, duration;
    units_t gpus;
    if (table_time(&r->table, DEADLINE, &deadline, err) < 0 ||
        reader_set_deadline(r, DEADLINE, deadline, j, err) < 0 ||
        reader_gpus(r, GPUS, &gpus, err) < 0)
        return -1;
    j->group = reader_intern(r, table_text(&r->table, MODEL));
    if (r->profiles.kind)
        return set_malleable(r, gpus, j, err);
    if (table_time(&r->table, DURATION, &duration, err) < 0)
        return -1;
    reader_set_rigid(j, gpus, (double)duration);
    return 0;
}

const struct trace_format trace_elasticflow = {.name = "elasticflow",
                                               .columns = columns,
                                               .id = ID,
                                               .submit = SUBMIT,
                                               .profiles = PROFILES_THROUGHPUTS,
                                               .row = elasticflow_row};
