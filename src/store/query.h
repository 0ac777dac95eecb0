/* Queries: statements that are prepared once and cached, whose parameters and columns are used in
 * order. A failure is remembered, so only the end of a query needs to be checked:
 *
 *   AUTO_QUERY struct query q = query_open(s, "UPDATE t SET a = ?, b = ? WHERE c = ?");
 *   query_int(&q, 7);
 *   query_text(&q, "seven");
 *   query_int(&q, id);
 *   return query_run(&q, err);
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct query_slot {
    const char *sql; /* the key of the cache is this pointer */
    sqlite3_stmt *stmt;
    bool used;
};

struct store {
    sqlite3 *db;
    char *path;
    bool open;       /* a transaction is open */
    struct err lost; /* why the turn's writes were undone; ERR_OK = they were not */
    VEC(struct query_slot) cache;
};

struct query {
    struct store *store;
    sqlite3_stmt *stmt; /* NULL when it could not be prepared */
    size_t slot;
    int bound, column; /* parameters bound, columns read so far */
    int rc;            /* SQLite's code of the failure; SQLITE_OK = none */
    struct err fault;
};

#define AUTO_QUERY __attribute__((cleanup(query_done)))

/* Begins a query with this text, which must live as long as the store. A query that writes
 * begins the turn's transaction. The same text may be open several times. */
struct query query_open(struct store *s, const char *sql);
void query_done(struct query *q);

/* Bind the next parameter. Texts are borrowed until query_done(). */
void query_int(struct query *q, int64_t value);
void query_real(struct query *q, double value);
void query_text(struct query *q, const char *text);
/* The same without a check of the bytes. */
void query_bytes(struct query *q, const char *bytes, size_t n);

/* Returns 1 with a row to read, 0 after the last row, -1 on failure. */
int query_next(struct query *q, struct err *err);
/* Runs a query without rows. */
int query_run(struct query *q, struct err *err);
/* Runs it; *changes is the number of rows that it wrote. */
int query_run_counted(struct query *q, int64_t *changes, struct err *err);
/* Reads one number from the one row of a query; `none` when that is NULL. */
int query_number(struct query *q, int64_t none, int64_t *out, struct err *err);

/* Read the next column of the row. Texts live until the next row. */
int64_t query_get_int(struct query *q);
double query_get_real(struct query *q);
const char *query_get_text(struct query *q);
/* Reads a short text, cut to the size of the array. */
void query_get_name(struct query *q, char *out, size_t size);

/* Frees the cached statements before the database is closed. */
void query_forget(struct store *s);

#endif
