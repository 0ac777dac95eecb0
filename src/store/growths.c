/* Owns the rows of each job's series of growth efficiency; series.c thins it. */
#include "store/growths.h"

#include "store/job_read.h"
#include "store/series.h"

int store_growth_add(struct store *s, int64_t job, uint32_t attempt, const struct growth_row *row,
                     struct err *err)
{
    int64_t number;
    if (series_next(s, SERIES_GROWTH, job, &number, err) < 0)
        return -1;
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO growth VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    query_int(&q, job);
    query_int(&q, number);
    query_int(&q, attempt);
    query_int(&q, row->at);
    query_int(&q, row->span);
    query_real(&q, row->cpu);
    query_real(&q, row->memory);
    query_real(&q, row->block);
    query_real(&q, row->network);
    if (query_run(&q, err) < 0)
        return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(job, err) : -1;
    return series_thin(s, SERIES_GROWTH, job, number, err);
}

int store_growth_list(struct store *s, int64_t job, store_growth_fn fn, void *ctx, struct err *err)
{
    int rc;
    struct growth_row row;
    AUTO_QUERY struct query q =
        query_open(s, "SELECT attempt, at, span, cpu, memory, block, network"
                      " FROM growth WHERE job = ? ORDER BY seq");
    query_int(&q, job);
    while ((rc = query_next(&q, err)) > 0) {
        uint32_t attempt = (uint32_t)query_get_int(&q);
        row.at = query_get_int(&q);
        row.span = query_get_int(&q);
        row.cpu = query_get_real(&q);
        row.memory = query_get_real(&q);
        row.block = query_get_real(&q);
        row.network = query_get_real(&q);
        rc = fn(ctx, attempt, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
