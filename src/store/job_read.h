/* Rows of the job table, for the files of the store that read them. */
#ifndef STORE_JOB_READ_H
#define STORE_JOB_READ_H

#include "store/jobs.h"
#include "store/query.h"

/* The columns that jobs_read() reads. The first parameter says how much of the spec:
 * all of it, nothing, or all but env and script. A spec that is not JSON is returned
 * unchanged, so that it does not fail a whole list. */
enum { JOBS_SPEC_ALL, JOBS_SPEC_NONE, JOBS_SPEC_LEAN };
#define JOBS_COLUMNS                                                                               \
    "id, name, user, state, priority, array_id, array_index, submitted, started, ended, deadline," \
    " eligible, attempt, failures, code, reason, work, done, attained, run_time, wait_time,"       \
    " cpus_min, cpus_max, step, total, metric, said, iif(?1 = 1, '', (SELECT iif(?1 = 2 AND"       \
    " json_valid(text), json_remove(text, '$.env', '$.script'), text) FROM spec"                   \
    " WHERE spec.job = job.id))"

/* Reads the current row of the query; its texts are valid until the next row. */
int jobs_read(struct query *q, struct job_row *row, struct err *err);

/* Sets the error for a job that does not exist; returns -1. */
int jobs_no_such(int64_t id, struct err *err);

#endif
