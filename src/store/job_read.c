/* Owns how a row of the job table is read. */
#include "store/job_read.h"

int jobs_no_such(int64_t id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no job %lld", (long long)id);
}

int jobs_read(struct query *q, struct job_row *row, struct err *err)
{
    row->id = query_get_int(q);
    row->name = query_get_text(q);
    row->user = query_get_text(q);
    const char *text = query_get_text(q);
    int state = job_state_parse(text);
    if (state < 0)
        return err_set(err, ERR_IO,
                       "job %lld has a state '%.20s' that is none; 'trainyard db check' lists "
                       "what is damaged",
                       (long long)row->id, text);
    row->state = (enum job_state)state;
    row->priority = (int32_t)query_get_int(q);
    row->array = query_get_int(q);
    row->array_index = query_get_int(q);
    row->submitted = query_get_int(q);
    row->started = query_get_int(q);
    row->ended = query_get_int(q);
    row->deadline = query_get_int(q);
    row->eligible = query_get_int(q);
    row->attempt = (uint32_t)query_get_int(q);
    row->failures = (uint32_t)query_get_int(q);
    row->code = (int32_t)query_get_int(q);
    row->reason = query_get_text(q);
    row->work = query_get_real(q);
    row->done = query_get_real(q);
    row->attained = query_get_real(q);
    row->run_time = query_get_int(q);
    row->wait_time = query_get_int(q);
    row->cpus_min = query_get_int(q);
    row->cpus_max = query_get_int(q);
    row->step = query_get_real(q);
    row->total = query_get_real(q);
    row->metric = query_get_real(q);
    row->said = query_get_text(q);
    row->spec = query_get_text(q);
    return 0;
}
