/* Rows of the job table, for the files that read them. */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include "store/query.h"

/* What jobs_read() reads. The first parameter, 1, leaves the specs out. */
#define JOBS_COLUMNS                                                                               \
    "id, name, user, state, priority, array_id, array_index, submitted, started, ended, deadline," \
    " eligible, attempt, failures, code, reason, work, done, attained, run_time, wait_time, step," \
    " total, metric, iif(?1, '', (SELECT text FROM spec WHERE spec.job = job.id))"

/* The row at which the query stands; its texts live until the next. */
int jobs_read(struct query *q, struct job_row *row, struct err *err);

/* What a failure to find job `id` is called; returns -1. */
int jobs_no_such(int64_t id, struct err *err);

#endif
