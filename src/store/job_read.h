/* Columns of the job table, for the files of the store that write and read them. */
#ifndef STORE_JOB_READ_H
#define STORE_JOB_READ_H

#include "store/columns.h"
#include "store/jobs.h"

/* Written once, when the job is added. */
#define JOB_COLUMNS_ONCE(X)                                                                        \
    X(request, int)                                                                                \
    X(name, text)                                                                                  \
    X(user, text)                                                                                  \
    X(array, int)                                                                                  \
    X(array_index, int)                                                                            \
    X(group_name, name)                                                                            \
    X(submitted, int)

/* Written whenever the job is saved; none of them is in an index. The others, which are, are
 * state, over and ended: see jobs.c. */
#define JOB_COLUMNS_PLAIN(X)                                                                       \
    X(held, int)                                                                                   \
    X(priority, int)                                                                               \
    X(started, int)                                                                                \
    X(deadline, int)                                                                               \
    X(eligible, int)                                                                               \
    X(attempt, int)                                                                                \
    X(failures, int)                                                                               \
    X(code, int)                                                                                   \
    X(reason, text)                                                                                \
    X(error, text)                                                                                 \
    X(cpus_min, int)                                                                               \
    X(cpus_max, int)                                                                               \
    X(gpus_min, int)                                                                               \
    X(gpus_max, int)                                                                               \
    X(memory_mb, int)                                                                              \
    X(time_limit, int)                                                                             \
    X(work, real)                                                                                  \
    X(done, real)                                                                                  \
    X(attained, real)                                                                              \
    X(run_time, int)                                                                               \
    X(wait_time, int)                                                                              \
    X(resize_cost, int)                                                                            \
    X(move_cost, int)                                                                              \
    X(risk, int)                                                                                   \
    X(checkpoint_node, name)                                                                       \
    X(checkpoint_attempt, int)                                                                     \
    X(saves, int)                                                                                  \
    X(step, real)                                                                                  \
    X(total, real)                                                                                 \
    X(epoch, real)                                                                                 \
    X(epochs, real)                                                                                \
    X(loss, real)                                                                                  \
    X(metric, real)                                                                                \
    X(rate, real)                                                                                  \
    X(metric_name, name)                                                                           \
    X(progress_source, name)                                                                       \
    X(total_from, name)                                                                            \
    X(diverged, name)                                                                              \
    X(weak, int)                                                                                   \
    X(progress_at, int)

/* What job_read() reads. */
#define JOB_SELECT                                                                                 \
    "SELECT " JOB_COLUMNS_ONCE(COLUMN_NAME) JOB_COLUMNS_PLAIN(                                     \
        COLUMN_NAME) "ended, state, id, (SELECT command FROM request WHERE id = job.request),"     \
                     " (SELECT sweep FROM request WHERE id = job.request) FROM job "

/* Reads the current row of the query; its texts are valid until the next row. */
int job_read(struct query *q, struct job_row *row, struct err *err);

/* Sets the error for a job that does not exist; returns -1. */
int job_no_such(int64_t id, struct err *err);

#endif
