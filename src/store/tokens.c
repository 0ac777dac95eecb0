/* Owns the table of tokens and sessions. */
#include "store/tokens.h"

#include "store/query.h"

#define COLUMNS "kind, name, user, role, hash, created, expires, used, parent"

static int is_taken(struct store *s, const char *name, int64_t *n, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "SELECT count(*) FROM token WHERE kind = 'token' AND name = ?");
    query_text(&q, name);
    return query_number(&q, 0, n, err);
}

int store_token_add(struct store *s, const struct token_row *row, int64_t *id, struct err *err)
{
    int64_t n = 0;
    if (!row->session && is_taken(s, row->name, &n, err) < 0)
        return -1;
    if (n)
        return err_set(err, ERR_CONFLICT, "a token '%s' already exists", row->name);
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO token (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    query_text(&q, row->session ? "session" : "token");
    query_text(&q, row->name);
    query_text(&q, row->user);
    query_text(&q, row->role);
    query_text(&q, row->hash);
    query_int(&q, row->created);
    query_int(&q, row->expires);
    query_int(&q, row->used);
    query_int(&q, row->parent);
    if (query_run(&q, err) < 0)
        return -1;
    if (id)
        *id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

static int read_rows(struct query *q, store_token_fn fn, void *ctx, struct err *err)
{
    int rc;
    while ((rc = query_next(q, err)) > 0) {
        struct token_row row = {.id = query_get_int(q)};
        row.session = query_get_text(q)[0] == 's';
        row.name = query_get_text(q);
        row.user = query_get_text(q);
        row.role = query_get_text(q);
        row.hash = query_get_text(q);
        row.created = query_get_int(q);
        row.expires = query_get_int(q);
        row.used = query_get_int(q);
        row.parent = query_get_int(q);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}

int store_token_find(struct store *s, const char *hash, store_token_fn fn, void *ctx,
                     struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "SELECT id, " COLUMNS " FROM token WHERE hash = ?");
    query_text(&q, hash);
    return read_rows(&q, fn, ctx, err);
}

int store_token_list(struct store *s, store_token_fn fn, void *ctx, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "SELECT id, " COLUMNS " FROM token WHERE kind = 'token' ORDER BY name");
    return read_rows(&q, fn, ctx, err);
}

int store_token_touch(struct store *s, int64_t id, usec_t used, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "UPDATE token SET used = ? WHERE id = ?");
    query_int(&q, used);
    query_int(&q, id);
    return query_run(&q, err);
}

int store_token_delete(struct store *s, int64_t id, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "WITH RECURSIVE gone (id) AS (VALUES (?)"
                      "  UNION SELECT token.id FROM token JOIN gone ON token.parent = gone.id)"
                      " DELETE FROM token WHERE id IN (SELECT id FROM gone)");
    query_int(&q, id);
    return query_run(&q, err);
}

int store_token_sweep(struct store *s, usec_t now, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "DELETE FROM token WHERE kind = 'session' AND expires <= ?");
    query_int(&q, now);
    return query_run(&q, err);
}
