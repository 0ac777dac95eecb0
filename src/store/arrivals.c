/* Owns what is stored about arrays that are being accepted. */
#include "store/arrivals.h"

#include "store/query.h"

int store_arrival_save(struct store *s, const struct arrival_row *row, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO arrival (request, first, arrived, members) VALUES (?, ?, ?, ?)"
                      " ON CONFLICT DO UPDATE SET arrived = excluded.arrived");
    query_int(&q, row->request);
    query_int(&q, row->first);
    query_int(&q, row->arrived);
    query_int(&q, row->members);
    return query_run(&q, err);
}

int store_arrival_remove(struct store *s, int64_t request, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "DELETE FROM arrival WHERE request = ?");
    query_int(&q, request);
    return query_run(&q, err);
}

int store_arrival_list(struct store *s, store_arrival_fn fn, void *ctx, struct err *err)
{
    int rc;
    AUTO_QUERY struct query q =
        query_open(s, "SELECT request, first, arrived, members FROM arrival ORDER BY request");
    while ((rc = query_next(&q, err)) > 0) {
        struct arrival_row row = {.request = query_get_int(&q)};
        row.first = query_get_int(&q);
        row.arrived = (uint32_t)query_get_int(&q);
        row.members = (uint32_t)query_get_int(&q);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
