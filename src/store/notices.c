/* Owns the tables of notifications. */
#include "store/notices.h"

#include "store/query.h"

int store_target_add(struct store *s, const struct target_row *row, int64_t *id, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO target (user, target, secret, events) VALUES (?, ?, ?, ?)");
    query_text(&q, row->user);
    query_text(&q, row->target);
    query_text(&q, row->secret);
    query_int(&q, row->events);
    if (query_run(&q, err) < 0)
        return -1;
    *id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int store_target_delete(struct store *s, int64_t id, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "DELETE FROM target WHERE id = ?");
    query_int(&q, id);
    return query_run(&q, err);
}

int store_target_list(struct store *s, const char *user, store_target_fn fn, void *ctx,
                      struct err *err)
{
    int rc;
    AUTO_QUERY struct query q =
        query_open(s, "SELECT id, user, target, secret, events FROM target"
                      " WHERE ?1 = '' OR user = ?1 OR user = '*' ORDER BY id");
    query_text(&q, user ? user : "");
    while ((rc = query_next(&q, err)) > 0) {
        struct target_row row = {.id = query_get_int(&q)};
        row.user = query_get_text(&q);
        row.target = query_get_text(&q);
        row.secret = query_get_text(&q);
        row.events = query_get_int(&q);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}

int store_notice_add(struct store *s, const struct notice_row *row, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO notice (target, secret, message, created, due, tries)"
                      " VALUES (?, ?, ?, ?, ?, 0)");
    query_text(&q, row->target);
    query_text(&q, row->secret);
    query_text(&q, row->message);
    query_int(&q, row->created);
    query_int(&q, row->due);
    return query_run(&q, err);
}

int store_notice_delete(struct store *s, int64_t id, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "DELETE FROM notice WHERE id = ?");
    query_int(&q, id);
    return query_run(&q, err);
}

int store_notice_retry(struct store *s, int64_t id, int64_t tries, usec_t due, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "UPDATE notice SET tries = ?, due = ? WHERE id = ?");
    query_int(&q, tries);
    query_int(&q, due);
    query_int(&q, id);
    return query_run(&q, err);
}

int store_notice_list(struct store *s, store_notice_fn fn, void *ctx, struct err *err)
{
    int rc;
    AUTO_QUERY struct query q =
        query_open(s, "SELECT id, target, secret, message, created, due, tries FROM notice"
                      " ORDER BY due, id");
    while ((rc = query_next(&q, err)) > 0) {
        struct notice_row row = {.id = query_get_int(&q)};
        row.target = query_get_text(&q);
        row.secret = query_get_text(&q);
        row.message = query_get_text(&q);
        row.created = query_get_int(&q);
        row.due = query_get_int(&q);
        row.tries = query_get_int(&q);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
