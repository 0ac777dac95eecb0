/* Rows of the job table, for the files that read them. */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include "store/query.h"

/* What jobs_read() reads. The first parameter says what of the specs; one that is no
 * JSON comes as it is, so that it does not fail a whole list. */
enum { JOBS_SPEC_ALL, JOBS_SPEC_NONE, JOBS_SPEC_LEAN };
#define JOBS_COLUMNS                                                                               \
    "id, name, user, state, priority, array_id, array_index, submitted, started, ended, deadline," \
    " eligible, attempt, failures, code, reason, work, done, attained, run_time, wait_time,"       \
    " cpus_min, cpus_max, step, total, metric, said, iif(?1 = 1, '', (SELECT iif(?1 = 2 AND"       \
    " json_valid(text), json_remove(text, '$.env', '$.script'), text) FROM spec"                   \
    " WHERE spec.job = job.id))"

/* The row at which the query stands; its texts live until the next. */
int jobs_read(struct query *q, struct job_row *row, struct err *err);

/* What a failure to find job `id` is called; returns -1. */
int jobs_no_such(int64_t id, struct err *err);

#endif
