/* Owns the events that users follow. */
#include "store/events.h"

#include "store/query.h"

int store_event_add(struct store *s, usec_t at, int64_t job, const char *kind, const char *json,
                    int64_t *seq, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO event (at, job, kind, json) VALUES (?, ?, ?, ?)");
    query_int(&q, at);
    query_int(&q, job);
    query_text(&q, kind);
    query_text(&q, json);
    if (query_run(&q, err) < 0)
        return -1;
    *seq = sqlite3_last_insert_rowid(s->db);
    return 0;
}

static int walk(struct query *q, store_event_fn fn, void *ctx, struct err *err)
{
    int rc;
    while ((rc = query_next(q, err)) > 0) {
        int64_t seq = query_get_int(q);
        usec_t at = query_get_int(q);
        int64_t of = query_get_int(q);
        const char *kind = query_get_text(q);
        const char *json = query_get_text(q);
        rc = fn(ctx, seq, at, of, kind, json, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}

static int64_t rows(uint32_t limit)
{
    return limit ? (int64_t)limit : -1;
}

int store_event_list(struct store *s, int64_t after, int64_t job, uint32_t limit, store_event_fn fn,
                     void *ctx, struct err *err)
{
    AUTO_QUERY struct query q = query_open(
        s, job ? "SELECT seq, at, job, kind, json FROM event INDEXED BY event_job"
                 " WHERE seq > ?1 AND job = ?3 ORDER BY seq LIMIT ?2"
               : "SELECT seq, at, job, kind, json FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2");
    query_int(&q, after);
    query_int(&q, rows(limit));
    if (job)
        query_int(&q, job);
    return walk(&q, fn, ctx, err);
}

int store_event_latest(struct store *s, int64_t job, uint32_t limit, store_event_fn fn, void *ctx,
                       struct err *err)
{
    AUTO_QUERY struct query q = query_open(
        s, job ? "SELECT seq, at, job, kind, json FROM event INDEXED BY event_job"
                 " WHERE job = ?2 ORDER BY seq DESC LIMIT ?1"
               : "SELECT seq, at, job, kind, json FROM event ORDER BY seq DESC LIMIT ?1");
    query_int(&q, rows(limit));
    if (job)
        query_int(&q, job);
    return walk(&q, fn, ctx, err);
}
