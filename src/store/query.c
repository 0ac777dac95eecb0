/* Owns the cache of statements, binding and reading, and what a failure does to the turn's
 * transaction.
 *
 * Invariant: s->open is true exactly while SQLite has a transaction open that the store began.
 * SQLite may roll back by itself when the disk fails. Then, and when a write failed for any
 * reason other than its input, s->lost says why until the turn ends, and no write is accepted:
 * half a turn must never be committed. SQLite undoes only the statement if its input is wrong. */
#include "store/query.h"

#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "store/fault.h"

static void fail(struct query *q, int rc)
{
    if (q->rc != SQLITE_OK)
        return;
    q->rc = rc;
    fault_set(q->store->db, q->store->path, rc, &q->fault);
}

/* Whether only this statement failed, not the disk. */
static bool is_input(int rc)
{
    return (rc & 0xff) == SQLITE_CONSTRAINT || (rc & 0xff) == SQLITE_TOOBIG;
}

static void lose_turn(struct query *q)
{
    struct store *s = q->store;
    bool undone = sqlite3_get_autocommit(s->db);
    bool wrote = q->stmt && !sqlite3_stmt_readonly(q->stmt) && !is_input(q->rc);
    if (!s->open || !(undone || wrote))
        return;
    if (!undone)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open = false;
    s->lost = q->fault;
}

static void begin_turn(struct query *q)
{
    struct store *s = q->store;
    if (s->open || q->rc != SQLITE_OK)
        return;
    if (s->lost.code != ERR_OK) {
        q->rc = SQLITE_ABORT;
        q->fault = s->lost;
        return;
    }
    int rc = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    s->open = rc == SQLITE_OK;
    if (!s->open) {
        fail(q, rc);
        s->lost = q->fault;
    }
}

struct query query_open(struct store *s, const char *sql)
{
    struct query q = {.store = s};
    for (q.slot = 0; q.slot < s->cache.n; q.slot++)
        if (s->cache.at[q.slot].sql == sql && !s->cache.at[q.slot].used)
            break;
    if (q.slot == s->cache.n) {
        sqlite3_stmt *stmt = NULL;
        int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
        if (rc != SQLITE_OK) {
            fail(&q, rc);
            return q;
        }
        VEC_PUSH(&s->cache, (struct query_slot){.sql = sql, .stmt = stmt});
    }
    s->cache.at[q.slot].used = true;
    q.stmt = s->cache.at[q.slot].stmt;
    if (!sqlite3_stmt_readonly(q.stmt))
        begin_turn(&q);
    return q;
}

void query_done(struct query *q)
{
    if (!q->stmt)
        return;
    sqlite3_reset(q->stmt);
    sqlite3_clear_bindings(q->stmt);
    q->store->cache.at[q->slot].used = false;
    q->stmt = NULL;
}

void query_forget(struct store *s)
{
    for (size_t i = 0; i < s->cache.n; i++)
        sqlite3_finalize(s->cache.at[i].stmt);
    VEC_DONE(&s->cache);
}

static void check_bind(struct query *q, int rc)
{
    if (rc != SQLITE_OK)
        fail(q, rc);
}

void query_int(struct query *q, int64_t value)
{
    if (q->stmt)
        check_bind(q, sqlite3_bind_int64(q->stmt, ++q->bound, value));
}

void query_real(struct query *q, double value)
{
    if (q->stmt)
        check_bind(q, sqlite3_bind_double(q->stmt, ++q->bound, value));
}

void query_bytes(struct query *q, const char *bytes, size_t n)
{
    if (q->stmt)
        check_bind(q,
                   sqlite3_bind_text64(q->stmt, ++q->bound, bytes, n, SQLITE_STATIC, SQLITE_UTF8));
}

void query_text(struct query *q, const char *text)
{
    text = text ? text : "";
    size_t n = str_valid_utf8(text);
    if (!text[n]) {
        query_bytes(q, text, n);
        return;
    }
    struct str clean = {0};
    str_add_utf8(&clean, text);
    if (q->stmt)
        check_bind(q, sqlite3_bind_text64(q->stmt, ++q->bound, clean.at, clean.n, SQLITE_TRANSIENT,
                                          SQLITE_UTF8));
    str_done(&clean);
}

/* Returns 0 when nothing has failed so far. */
static int query_check(const struct query *q, struct err *err)
{
    return q->rc == SQLITE_OK ? 0 : err_set(err, q->fault.code, "%s", q->fault.text);
}

int query_next(struct query *q, struct err *err)
{
    if (query_check(q, err) < 0)
        return -1;
    int rc = sqlite3_step(q->stmt);
    q->column = 0;
    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    fail(q, rc);
    lose_turn(q);
    return query_check(q, err);
}

int query_run(struct query *q, struct err *err)
{
    return query_next(q, err);
}

int query_run_counted(struct query *q, int64_t *changes, struct err *err)
{
    if (query_run(q, err) < 0)
        return -1;
    *changes = sqlite3_changes64(q->store->db);
    return 0;
}

int64_t query_get_int(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->column++);
}

double query_get_real(struct query *q)
{
    int column = q->column++;
    return sqlite3_column_type(q->stmt, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(q->stmt, column);
}

const char *query_get_text(struct query *q)
{
    const unsigned char *text = sqlite3_column_text(q->stmt, q->column++);
    return text ? (const char *)text : "";
}

void query_get_name(struct query *q, char *out, size_t size)
{
    snprintf(out, size, "%s", query_get_text(q));
}

int query_number(struct query *q, int64_t none, int64_t *out, struct err *err)
{
    int rc = query_next(q, err);
    if (rc < 0)
        return -1;
    bool null = rc == 0 || sqlite3_column_type(q->stmt, 0) == SQLITE_NULL;
    *out = null ? none : sqlite3_column_int64(q->stmt, 0);
    return 0;
}
