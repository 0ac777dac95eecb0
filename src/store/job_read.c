/* Owns how a row of the job table is read. */
#include "store/job_read.h"

int job_no_such(int64_t id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no job %lld", (long long)id);
}

int job_read(struct query *q, struct job_row *row, struct err *err)
{
    JOB_COLUMNS_ONCE(COLUMN_READ)
    JOB_COLUMNS_PLAIN(COLUMN_READ)
    row->ended = query_get_int(q);
    const char *state = query_get_text(q);
    row->id = query_get_int(q);
    row->command = query_get_text(q);
    row->sweep = query_get_text(q);
    if (job_state_parse(state) < 0)
        return err_set(err, ERR_IO,
                       "job %lld has the unknown state '%.20s'; run 'trainyard db check' to "
                       "list the damage",
                       (long long)row->id, state);
    row->state = (enum job_state)job_state_parse(state);
    return 0;
}
