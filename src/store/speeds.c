/* Owns the summaries of step times by size. */
#include "store/speeds.h"

#include "store/job_read.h"

int store_speed_save(struct store *s, int64_t job, const struct speed_row *row, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT OR REPLACE INTO speed (job, size, units, mean,"
                      " squares, inside, weight, last)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    query_int(&q, job);
    query_int(&q, row->size);
    query_real(&q, row->units);
    query_real(&q, row->mean);
    query_real(&q, row->squares);
    query_real(&q, row->inside);
    query_real(&q, row->weight);
    query_int(&q, row->last);
    if (query_run(&q, err) == 0)
        return 0;
    return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(job, err) : -1;
}

int store_speed_list(struct store *s, int64_t job, store_speed_fn fn, void *ctx, struct err *err)
{
    int rc;
    AUTO_QUERY struct query q =
        query_open(s, "SELECT size, units, mean, squares, inside, weight, last FROM speed"
                      " WHERE job = ? ORDER BY size");
    query_int(&q, job);
    while ((rc = query_next(&q, err)) > 0) {
        struct speed_row row = {.size = (uint32_t)query_get_int(&q)};
        row.units = query_get_real(&q);
        row.mean = query_get_real(&q);
        row.squares = query_get_real(&q);
        row.inside = query_get_real(&q);
        row.weight = query_get_real(&q);
        row.last = query_get_int(&q);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
