/* Owns Voda's experiments: malleable jobs by model, with the speedups of each
 * model in a table and the work as seconds on one GPU. */
#include "sim/trace/reader.h"

enum { ID, SUBMIT, MODEL, WORK, REQ, MIN, MAX };

static const struct column columns[] = {{"job_id", true},      {"submit_s", true}, {"model", true},
                                        {"work_1gpu_s", true}, {"req", true},      {"min", true},
                                        {"max", true},         {NULL, false}};

static int voda_row(struct trace_reader *r, struct job *j, struct err *err)
{
    const struct scaling *s;
    double work;
    if (table_work(&r->table, WORK, &work, err) < 0 || reader_gpus(r, REQ, &j->req, err) < 0 ||
        reader_gpus(r, MIN, &j->min, err) < 0 || reader_gpus(r, MAX, &j->max, err) < 0 ||
        reader_scaling(r, MODEL, -1, &s, err) < 0)
        return -1;
    scaling_apply(s, 0, j);
    if (reader_check_size(r, REQ, j->req, j, err) < 0 ||
        reader_check_size(r, MIN, j->min, j, err) < 0 ||
        reader_check_size(r, MAX, j->max, j, err) < 0 ||
        reader_check_sizes(r, REQ, MIN, MAX, j, err) < 0)
        return -1;
    j->work = work;
    j->kind = JOB_MALLEABLE;
    j->group = reader_intern(r, table_text(&r->table, MODEL));
    return 0;
}

const struct trace_format trace_voda = {.name = "voda",
                                        .columns = columns,
                                        .id = ID,
                                        .submit = SUBMIT,
                                        .profiles = PROFILES_SPEEDUPS,
                                        .needs_profiles = true,
                                        .row = voda_row};
