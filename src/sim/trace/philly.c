/* Owns the format of the Philly trace (Jeon et al., ATC'19) as reduced to one
 * line per job: rigid jobs with the run time that they had. */
#include "sim/trace/reader.h"

enum { ID, SUBMIT, DURATION, GPUS, CLUSTER };

static const struct column columns[] = {{"job_id", true},     {"submit_s", true},
                                        {"duration_s", true}, {"num_gpus", true},
                                        {"vc", false},        {NULL, false}};

static int philly_row(struct trace_reader *r, struct job *j, struct err *err)
{
    units_t gpus;
    usec_t duration;
    if (reader_gpus(r, GPUS, &gpus, err) < 0 || table_time(&r->table, DURATION, &duration, err) < 0)
        return -1;
    reader_set_rigid(j, gpus, (double)duration);
    j->group = reader_intern(r, table_text(&r->table, CLUSTER));
    return 0;
}

const struct trace_format trace_philly = {
    .name = "philly", .columns = columns, .id = ID, .submit = SUBMIT, .row = philly_row};
