/* Owns the journal of what the engine was told and decided, and its boots. */
#include "store/journal.h"

#include "store/query.h"

int store_boot_begin(struct store *s, usec_t at, int64_t *boot, struct err *err)
{
    AUTO_QUERY struct query q = query_open(
        s, "INSERT INTO boot (at, first) SELECT ?, coalesce(max(seq), 0) + 1 FROM journal");
    query_int(&q, at);
    if (query_run(&q, err) < 0)
        return -1;
    *boot = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int store_journal_add(struct store *s, const char *kind, const char *data, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "INSERT INTO journal (kind, data) VALUES (?, ?)");
    query_text(&q, kind);
    query_text(&q, data);
    return query_run(&q, err);
}

/* A row belongs to the last boot that begins with it or before it. Boots that have no rows
 * begin where the next one does. */
#define SELECT                                                                                     \
    "SELECT seq, (SELECT n FROM boot WHERE first <= seq ORDER BY first DESC, n DESC LIMIT 1),"     \
    " kind, data FROM journal "

static int walk(struct query *q, store_journal_fn fn, void *ctx, struct err *err)
{
    int rc;
    while ((rc = query_next(q, err)) > 0) {
        int64_t seq = query_get_int(q);
        int64_t boot = query_get_int(q);
        const char *kind = query_get_text(q);
        const char *data = query_get_text(q);
        rc = fn(ctx, seq, boot, kind, data, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}

int store_journal_list(struct store *s, int64_t boot, store_journal_fn fn, void *ctx,
                       struct err *err)
{
    AUTO_QUERY struct query q = query_open(
        s, boot ? SELECT "WHERE seq >= (SELECT first FROM boot WHERE n = ?1) AND seq <"
                         " coalesce((SELECT first FROM boot WHERE n > ?1 ORDER BY n LIMIT 1),"
                         " 9223372036854775807) ORDER BY seq"
                : SELECT "ORDER BY seq");
    if (boot)
        query_int(&q, boot);
    return walk(&q, fn, ctx, err);
}

int store_journal_latest(struct store *s, const char *kind, uint32_t limit, store_journal_fn fn,
                         void *ctx, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, SELECT "WHERE seq > (SELECT max(seq) FROM journal) - ? AND kind = ?"
                             " ORDER BY seq DESC LIMIT ?");
    query_int(&q, STORE_JOURNAL_LATEST);
    query_text(&q, kind);
    query_int(&q, limit ? (int64_t)limit : -1);
    return walk(&q, fn, ctx, err);
}
