/* Owns the series of samples of the cluster's load, and its thinning. */
#include "store/loads.h"

#include "store/columns.h"

#define DAY (86400 * USEC_PER_SEC)
#define COARSE (300 * USEC_PER_SEC)

#define COLUMNS(X)                                                                                 \
    X(at, int)                                                                                     \
    X(running, int)                                                                                \
    X(waiting, int)                                                                                \
    X(cpus, int)                                                                                   \
    X(cpus_held, int)                                                                              \
    X(gpus, int)                                                                                   \
    X(gpus_held, int)                                                                              \
    X(node, text)                                                                                  \
    X(cpus_used, real)                                                                             \
    X(memory_mb, int)                                                                              \
    X(memory_used_mb, real)                                                                        \
    X(moves, int)

/* A clock that was set back writes some samples again. */
int store_load_add(struct store *s, const struct load_row *row, struct err *err)
{
    static const char
        cluster[] = "INSERT OR REPLACE INTO load VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        node[] = "INSERT OR REPLACE INTO node_load VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    AUTO_QUERY struct query q = query_open(s, *row->node ? node : cluster);
    query_int(&q, row->at);
    if (*row->node)
        query_text(&q, row->node);
    query_int(&q, row->running);
    if (!*row->node)
        query_int(&q, row->waiting);
    query_int(&q, row->cpus);
    query_int(&q, row->cpus_held);
    query_int(&q, row->gpus);
    query_int(&q, row->gpus_held);
    query_real(&q, row->cpus_used);
    query_int(&q, row->memory_mb);
    query_real(&q, row->memory_used_mb);
    query_int(&q, row->moves);
    return query_run(&q, err);
}

int store_load_moves(struct store *s, const char *node, int64_t *moves, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "SELECT moves FROM node_load WHERE node = ? ORDER BY at DESC LIMIT 1");
    query_text(&q, node);
    return query_number(&q, 0, moves, err);
}

static int remove_range(struct store *s, const char *sql, usec_t from, usec_t to, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, sql);
    query_int(&q, from);
    query_int(&q, to);
    return query_run(&q, err);
}

int store_load_thin(struct store *s, usec_t now, usec_t keep, struct err *err)
{
    /* The five minutes that ended a day ago, except for their last sample. */
    usec_t end = (now - DAY) / COARSE * COARSE;
    if (remove_range(s,
                     "DELETE FROM load WHERE at >= ?1 AND at < ?2 AND at < (SELECT max(at) FROM "
                     "load WHERE at < ?2)",
                     end - COARSE, end, err) < 0 ||
        remove_range(s,
                     "DELETE FROM node_load WHERE at >= ?1 AND at < ?2 AND at NOT IN (SELECT at "
                     "FROM load WHERE at >= ?1 AND at < ?2)",
                     end - COARSE, end, err) < 0)
        return -1;
    if (remove_range(s, "DELETE FROM load WHERE at >= ? AND at < ?", 0, keep, err) < 0)
        return -1;
    return remove_range(s, "DELETE FROM node_load WHERE at >= ? AND at < ?", 0, keep, err);
}

static void read_row(struct query *q, struct load_row *row)
{
    COLUMNS(COLUMN_READ)
}

int store_load_list(struct store *s, usec_t since, usec_t step, store_load_fn fn, void *ctx,
                    struct err *err)
{
    /* The times come first, from the small table; "" sorts before the names of nodes. */
    static const char sql[] =
        "WITH chosen AS (SELECT max(at) AS at FROM load WHERE at >= coalesce("
        "  (SELECT max(at) FROM load WHERE at <= ?1), 0) GROUP BY at / ?2)"
        " SELECT at, running, waiting, cpus, cpus_held, gpus, gpus_held, '' AS node, cpus_used,"
        "  memory_mb, memory_used_mb, moves"
        "  FROM chosen JOIN load USING (at)"
        " UNION ALL SELECT at, running, 0, cpus, cpus_held, gpus, gpus_held, node, cpus_used,"
        "  memory_mb, memory_used_mb, moves"
        "  FROM chosen JOIN node_load USING (at) ORDER BY at, node";
    int rc;
    struct load_row row;
    AUTO_QUERY struct query q = query_open(s, sql);
    query_int(&q, since);
    query_int(&q, step);
    while ((rc = query_next(&q, err)) > 0) {
        read_row(&q, &row);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}

int store_load_most(struct store *s, usec_t since, store_load_fn fn, void *ctx, struct err *err)
{
    int rc;
    AUTO_QUERY struct query q = query_open(
        s, "SELECT node, max(cpus), max(gpus) FROM node_load WHERE at >= ? GROUP BY node");
    query_int(&q, since);
    while ((rc = query_next(&q, err)) > 0) {
        struct load_row row = {.node = query_get_text(&q)};
        row.cpus = query_get_int(&q);
        row.gpus = query_get_int(&q);
        if ((rc = fn(ctx, &row, err)))
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
