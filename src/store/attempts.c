/* Owns the attempts of jobs. */
#include "store/attempts.h"

#include "store/job_read.h"

/* As in job_read.h: each column once. */
#define COLUMNS_ONCE(X)                                                                            \
    X(token, name)                                                                                 \
    X(created, int)
#define COLUMNS(X)                                                                                 \
    X(started, int)                                                                                \
    X(ended, int)                                                                                  \
    X(node, text)                                                                                  \
    X(pool, int)                                                                                   \
    X(cpus, int)                                                                                   \
    X(gpus, int)                                                                                   \
    X(cpu_limit, int)                                                                              \
    X(cpu_weight, real)                                                                            \
    X(boot, name)                                                                                  \
    X(pid, int)                                                                                    \
    X(paused, int)                                                                                 \
    X(stop, name)                                                                                  \
    X(grace, int)                                                                                  \
    X(seq, int)                                                                                    \
    X(ran, int)                                                                                    \
    X(since, int)                                                                                  \
    X(cpu_seconds, real)                                                                           \
    X(memory_max_mb, real)                                                                         \
    X(code, int)                                                                                   \
    X(signal, int)                                                                                 \
    X(reason, text)

#define NAME(column, type) #column ", "
#define MARK(column, type) "?, "
#define SET(column, type) #column " = ?, "

static const char add_sql[] = "INSERT INTO attempt (" COLUMNS_ONCE(NAME)
    COLUMNS(NAME) "state, over, job, n) VALUES (" COLUMNS_ONCE(MARK) COLUMNS(MARK) "?, ?, ?, ?)";
static const char save_sql[] =
    "UPDATE attempt SET " COLUMNS(SET) "state = ?, over = ? WHERE job = ? AND n = ?";

#define SELECT "SELECT " COLUMNS_ONCE(NAME) COLUMNS(NAME) "state, job, n FROM attempt "

static int check_row(const struct attempt_row *row, struct err *err)
{
    if ((unsigned)row->state < JOB_STATE_COUNT)
        return 0;
    return err_set(err, ERR_INVALID, "attempt %lld.%u: %d is not a state", (long long)row->job,
                   row->n, (int)row->state);
}

static void bind_row(struct query *q, const struct attempt_row *row)
{
#define X(column, type) query_##type(q, row->column);
    COLUMNS(X)
    query_text(q, job_state_name(row->state));
    query_int(q, job_state_over(row->state));
    query_int(q, row->job);
    query_int(q, row->n);
}

int store_attempt_add(struct store *s, const struct attempt_row *row, struct err *err)
{
    if (check_row(row, err) < 0)
        return -1;
    AUTO_QUERY struct query new = query_open(s, add_sql);
    struct query *q = &new;
    COLUMNS_ONCE(X)
#undef X
    bind_row(q, row);
    if (query_run(q, err) == 0)
        return 0;
    if (q->rc == SQLITE_CONSTRAINT_PRIMARYKEY)
        return err_set(err, ERR_CONFLICT, "job %lld has an attempt %u already", (long long)row->job,
                       row->n);
    return q->rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(row->job, err) : -1;
}

int store_attempt_save(struct store *s, const struct attempt_row *row, struct err *err)
{
    int64_t changes;
    if (check_row(row, err) < 0)
        return -1;
    AUTO_QUERY struct query q = query_open(s, save_sql);
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
#define X(column, type) QUERY_GET_##type(q, row->column);
    COLUMNS_ONCE(X)
    COLUMNS(X)
#undef X
    const char *state = query_get_text(q);
    row->job = query_get_int(q);
    row->n = (uint32_t)query_get_int(q);
    if (job_state_parse(state) < 0)
        return err_set(err, ERR_IO,
                       "attempt %lld.%u has the unknown state '%.20s'; 'trainyard db check' lists "
                       "what is damaged",
                       (long long)row->job, row->n, state);
    row->state = (enum job_state)job_state_parse(state);
    return 0;
}

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
