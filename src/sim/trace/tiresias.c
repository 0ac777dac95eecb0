/* Owns the formats of Tiresias' simulator (NSDI'19) and of Muri (SIGCOMM'22),
 * which grew out of it. Jobs are rigid: `duration` is the run time on exactly
 * num_gpu GPUs. Muri counts in milliseconds and adds what an iteration takes of
 * each resource, which only its interleaving scheduler uses. */
#include <math.h>

#include "sim/trace/reader.h"

enum { ID, GPUS, SUBMIT, DURATION, MODEL };

static const struct column tiresias_columns[] = {
    {"job_id", true},      {"num_gpu", true},     {"submit_time", true}, {"duration", true},
    {"model_name", false}, {"iterations", false}, {"interval", false},   {NULL, false}};

static const struct column muri_columns[] = {{"job_id", true},           {"num_gpu", true},
                                             {"submit_time", true},      {"duration", true},
                                             {"model_name", false},      {"iteration_time", true},
                                             {"iterations", false},      {"batch_size", false},
                                             {"interval", false},        {"resource_time_0", false},
                                             {"resource_time_1", false}, {"resource_time_2", false},
                                             {"priority", false},        {NULL, false}};

static int tiresias_row(struct trace_reader *r, struct job *j, struct err *err)
{
    units_t gpus;
    usec_t duration;
    if (reader_gpus(r, GPUS, &gpus, err) < 0 || table_time(&r->table, DURATION, &duration, err) < 0)
        return -1;
    reader_set_rigid(j, gpus, (double)duration);
    j->group = reader_intern(r, table_text(&r->table, MODEL));
    return 0;
}

static int muri_row(struct trace_reader *r, struct job *j, struct err *err)
{
    const double most = (double)(USEC_LIMIT / 1000);
    units_t gpus;
    double duration;
    if (reader_gpus(r, GPUS, &gpus, err) < 0 ||
        table_double(&r->table, DURATION, 0, most, &duration, err) < 0)
        return -1;
    reader_set_rigid(j, gpus, round(duration * 1000));
    j->group = reader_intern(r, table_text(&r->table, MODEL));
    return 0;
}

const struct trace_format trace_tiresias = {.name = "tiresias",
                                            .columns = tiresias_columns,
                                            .id = ID,
                                            .submit = SUBMIT,
                                            .row = tiresias_row};

const struct trace_format trace_muri = {.name = "muri",
                                        .columns = muri_columns,
                                        .id = ID,
                                        .submit = SUBMIT,
                                        .milliseconds = true,
                                        .row = muri_row};
