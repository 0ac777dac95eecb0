/* Owns the format of Tiresias' simulator (NSDI'19). Jobs are rigid: `duration` is the run time on
 * exactly num_gpu GPUs. */
#include "sim/trace/reader.h"

enum { ID, GPUS, SUBMIT, DURATION, MODEL };

static const struct column tiresias_columns[] = {
    {"job_id", true},      {"num_gpu", true},     {"submit_time", true}, {"duration", true},
    {"model_name", false}, {"iterations", false}, {"interval", false},   {NULL, false}};

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

const struct trace_format trace_tiresias = {.name = "tiresias",
                                            .columns = tiresias_columns,
                                            .id = ID,
                                            .submit = SUBMIT,
                                            .row = tiresias_row};
