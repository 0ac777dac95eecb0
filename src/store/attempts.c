/* Owns the attempts of jobs. */
#include "store/attempts.h"

#include "store/job_read.h"

static int check_row(const struct attempt_row *row, struct err *err)
{
    if ((unsigned)row->state < JOB_STATE_COUNT)
        return 0;
    return err_set(err, ERR_INVALID, "attempt %lld.%u: %d is not a state", (long long)row->job,
                   row->n, (int)row->state);
}

/* In the order of both statements. */
static void bind_row(struct query *q, const struct attempt_row *row)
{
    query_text(q, job_state_name(row->state));
    query_int(q, job_state_over(row->state));
    query_text(q, row->node);
    query_text(q, row->token);
    query_text(q, row->places);
    query_int(q, row->started);
    query_int(q, row->ended);
    query_int(q, row->code);
    query_int(q, row->signal);
    query_text(q, row->reason);
    query_real(q, row->cpu_seconds);
    query_real(q, row->memory_max_mb);
    query_int(q, row->pid);
    query_int(q, row->job);
    query_int(q, row->n);
}

int store_attempt_add(struct store *s, const struct attempt_row *row, struct err *err)
{
    if (check_row(row, err) < 0)
        return -1;
    AUTO_QUERY struct query q = query_open(
        s, "INSERT INTO attempt (state, over, node, token, places, started, ended, code, signal,"
           " reason, cpu_seconds, memory_max_mb, pid, job, n, created)"
           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bind_row(&q, row);
    query_int(&q, row->created);
    if (query_run(&q, err) == 0)
        return 0;
    if (q.rc == SQLITE_CONSTRAINT_PRIMARYKEY)
        return err_set(err, ERR_CONFLICT, "job %lld has an attempt %u already", (long long)row->job,
                       row->n);
    return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? jobs_no_such(row->job, err) : -1;
}

int store_attempt_save(struct store *s, const struct attempt_row *row, struct err *err)
{
    int64_t changes;
    if (check_row(row, err) < 0)
        return -1;
    AUTO_QUERY struct query q = query_open(
        s, "UPDATE attempt SET state = ?, over = ?, node = ?, token = ?, places = ?, started = ?,"
           " ended = ?, code = ?, signal = ?, reason = ?, cpu_seconds = ?, memory_max_mb = ?,"
           " pid = ? WHERE job = ? AND n = ?");
    bind_row(&q, row);
    if (query_run_counted(&q, &changes, err) < 0)
        return -1;
    if (changes == 0)
        return err_set(err, ERR_NOT_FOUND, "job %lld has no attempt %u", (long long)row->job,
                       row->n);
    return 0;
}

static int read_row(struct query *q, struct attempt_row *row, struct err *err)
{
    row->job = query_get_int(q);
    row->n = (uint32_t)query_get_int(q);
    const char *text = query_get_text(q);
    int state = job_state_parse(text);
    if (state < 0)
        return err_set(err, ERR_IO,
                       "attempt %lld.%u has a state '%.20s' that is none; 'trainyard db check' "
                       "lists what is damaged",
                       (long long)row->job, row->n, text);
    row->state = (enum job_state)state;
    row->node = query_get_text(q);
    row->token = query_get_text(q);
    row->places = query_get_text(q);
    row->created = query_get_int(q);
    row->started = query_get_int(q);
    row->ended = query_get_int(q);
    row->code = (int32_t)query_get_int(q);
    row->signal = (int32_t)query_get_int(q);
    row->reason = query_get_text(q);
    row->cpu_seconds = query_get_real(q);
    row->memory_max_mb = query_get_real(q);
    row->pid = query_get_int(q);
    return 0;
}

#define SELECT                                                                                     \
    "SELECT job, n, state, node, token, places, created, started, ended, code, signal, reason,"    \
    " cpu_seconds, memory_max_mb, pid FROM attempt "

int store_attempt_list(struct store *s, int64_t job, store_attempt_fn fn, void *ctx,
                       struct err *err)
{
    int rc;
    struct attempt_row row;
    AUTO_QUERY struct query q =
        query_open(s, job ? SELECT "WHERE job = ? ORDER BY n"
                          : SELECT "INDEXED BY attempt_active WHERE over = 0 ORDER BY job, n");
    if (job)
        query_int(&q, job);
    while ((rc = query_next(&q, err)) > 0) {
        if (read_row(&q, &row, err) < 0)
            return -1;
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
