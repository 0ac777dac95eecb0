/* Owns the attempts of jobs. */
#include "store/attempts.h"

#include "store/columns.h"
#include "store/job_read.h"

/* Written once, when the attempt is added. */
#define COLUMNS_ONCE(X)                                                                            \
    X(token, name)                                                                                 \
    X(runtime, text)                                                                               \
    X(created, int)
/* Written whenever it is saved. */
#define COLUMNS(X)                                                                                 \
    X(started, int)                                                                                \
    X(ended, int)                                                                                  \
    X(node, text)                                                                                  \
    X(gpu_type, text)                                                                              \
    X(cpus, int)                                                                                   \
    X(gpus, int)                                                                                   \
    X(cpu_limit, int)                                                                              \
    X(cpu_weight, real)                                                                            \
    X(boot, name)                                                                                  \
    X(pid, int)                                                                                    \
    X(paused, int)                                                                                 \
    X(stop, name)                                                                                  \
    X(grace, int)                                                                                  \
    X(stopped_by, int)                                                                             \
    X(frozen_at, int)                                                                              \
    X(lost, int)                                                                                   \
    X(seq, int)                                                                                    \
    X(before, int)                                                                                 \
    X(ran, int)                                                                                    \
    X(since, int)                                                                                  \
    X(cpu_seconds, real)                                                                           \
    X(memory_max_mb, real)                                                                         \
    X(code, int)                                                                                   \
    X(signal, int)                                                                                 \
    X(lease, int)                                                                                  \
    X(fenced, int)                                                                                 \
    X(fetch, int)                                                                                  \
    X(reason, text)                                                                                \
    X(error, text)                                                                                 \
    X(left_running, text)

/* Part 0 of an attempt is a row of `attempt`, the others are rows of `part`. */
#define INSERT_INTO(table)                                                                         \
    "INSERT INTO " table " (" COLUMNS_ONCE(COLUMN_NAME)                                            \
        COLUMNS(COLUMN_NAME) "state, over, job, n" /* and part */
#define VALUES ") VALUES (" COLUMNS_ONCE(COLUMN_MARK) COLUMNS(COLUMN_MARK) "?, ?, ?, ?"
#define UPDATE(table)                                                                              \
    "UPDATE " table " SET " COLUMNS(COLUMN_SET) "state = ?, over = ? WHERE job = ? AND n = ?"
static const char *const add_sql[] = {INSERT_INTO("attempt") VALUES ")",
                                      INSERT_INTO("part") ", part" VALUES ", ?)"};
static const char *const save_sql[] = {UPDATE("attempt"), UPDATE("part") " AND part = ?"};

#define SELECT_FROM(table, part)                                                                   \
    "SELECT " COLUMNS_ONCE(COLUMN_NAME) COLUMNS(COLUMN_NAME) "state, job, n, " part " FROM " table \
                                                             " "
#define SELECT SELECT_FROM("attempt", "0")
#define SELECT_PARTS SELECT_FROM("part", "part")

static int check_row(const struct attempt_row *row, struct err *err)
{
    if ((unsigned)row->state < JOB_STATE_COUNT)
        return 0;
    return err_set(err, ERR_INVALID, "attempt %lld.%u: %d is not a state", (long long)row->job,
                   row->n, (int)row->state);
}

static void bind_once(struct query *q, const struct attempt_row *row)
{
    COLUMNS_ONCE(COLUMN_BIND)
}

static void bind_rest(struct query *q, const struct attempt_row *row)
{
    COLUMNS(COLUMN_BIND)
    query_text(q, job_state_name(row->state));
    query_int(q, job_state_over(row->state));
    query_int(q, row->job);
    query_int(q, row->n);
    if (row->part)
        query_int(q, row->part);
}

int store_attempt_add(struct store *s, const struct attempt_row *row, struct err *err)
{
    if (check_row(row, err) < 0)
        return -1;
    AUTO_QUERY struct query q = query_open(s, add_sql[row->part > 0]);
    bind_once(&q, row);
    bind_rest(&q, row);
    if (query_run(&q, err) == 0)
        return 0;
    if (q.rc == SQLITE_CONSTRAINT_PRIMARYKEY)
        return err_set(err, ERR_CONFLICT, "job %lld already has an attempt %u", (long long)row->job,
                       row->n);
    return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(row->job, err) : -1;
}

int store_attempt_save(struct store *s, const struct attempt_row *row, struct err *err)
{
    int64_t changes;
    if (check_row(row, err) < 0)
        return -1;
    AUTO_QUERY struct query q = query_open(s, save_sql[row->part > 0]);
    bind_rest(&q, row);
    if (query_run_counted(&q, &changes, err) < 0)
        return -1;
    if (changes == 0)
        return err_set(err, ERR_NOT_FOUND, "job %lld has no attempt %u", (long long)row->job,
                       row->n);
    return 0;
}

int store_attempt_set_lost(struct store *s, int64_t job, uint32_t n, usec_t lost, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "UPDATE attempt SET lost = ? WHERE job = ? AND n = ?");
    query_int(&q, lost);
    query_int(&q, job);
    query_int(&q, n);
    return query_run(&q, err);
}

static int read_row(struct query *q, struct attempt_row *row, struct err *err)
{
    COLUMNS_ONCE(COLUMN_READ)
    COLUMNS(COLUMN_READ)
    const char *state = query_get_text(q);
    row->job = query_get_int(q);
    row->n = (uint32_t)query_get_int(q);
    row->part = (uint32_t)query_get_int(q);
    if (job_state_parse(state) < 0)
        return err_set(err, ERR_IO,
                       "attempt %lld.%u has the unknown state '%.20s'; 'trainyard db check' lists "
                       "what is damaged",
                       (long long)row->job, row->n, state);
    row->state = (enum job_state)job_state_parse(state);
    return 0;
}

static int list_rows(struct store *s, const char *sql, int64_t job, store_attempt_fn fn, void *ctx,
                     struct err *err)
{
    int rc;
    struct attempt_row row;
    AUTO_QUERY struct query q = query_open(s, sql);
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

int store_attempt_list(struct store *s, int64_t job, store_attempt_fn fn, void *ctx,
                       struct err *err)
{
    return list_rows(s,
                     job ? SELECT "WHERE job = ? ORDER BY n"
                         : SELECT "INDEXED BY attempt_active WHERE over = 0 OR fetch = 1 "
                                  "ORDER BY job, n",
                     job, fn, ctx, err);
}

int store_part_list(struct store *s, int64_t job, store_attempt_fn fn, void *ctx, struct err *err)
{
    return list_rows(s,
                     job ? SELECT_PARTS "WHERE job = ? ORDER BY n, part"
                         : SELECT_PARTS "INDEXED BY part_active WHERE over = 0 OR fetch = 1 "
                                        "ORDER BY job, n, part",
                     job, fn, ctx, err);
}
