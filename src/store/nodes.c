/* Owns what is stored about nodes. */
#include "store/nodes.h"

#include "store/query.h"

int store_node_save(struct store *s, const struct node_row *row, struct err *err)
{
    AUTO_QUERY struct query q = query_open(
        s, "INSERT INTO node (name, drained, reason) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET"
           " drained = excluded.drained, reason = excluded.reason");
    query_text(&q, row->name);
    query_int(&q, row->drained);
    query_text(&q, row->reason);
    return query_run(&q, err);
}

int store_node_list(struct store *s, store_node_fn fn, void *ctx, struct err *err)
{
    int rc;
    AUTO_QUERY struct query q =
        query_open(s, "SELECT name, drained, reason FROM node ORDER BY name");
    while ((rc = query_next(&q, err)) > 0) {
        struct node_row row = {.name = query_get_text(&q)};
        row.drained = query_get_int(&q);
        row.reason = query_get_text(&q);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
