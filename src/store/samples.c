/* Owns the rows of each job's series of samples; series.c thins it. */
#include "store/samples.h"

#include "store/job_read.h"
#include "store/series.h"

int store_sample_add(struct store *s, int64_t job, uint32_t attempt, const struct sample_row *row,
                     struct err *err)
{
    int64_t number;
    if (series_next(s, SERIES_SAMPLE, job, &number, err) < 0)
        return -1;
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    query_int(&q, job);
    query_int(&q, number);
    query_int(&q, attempt);
    query_int(&q, row->at);
    query_real(&q, row->step);
    query_real(&q, row->metric);
    query_real(&q, row->units);
    query_real(&q, row->cpu_time);
    query_real(&q, row->memory_mb);
    query_real(&q, row->block_bytes);
    query_real(&q, row->net_bytes);
    query_text(&q, row->metrics ? row->metrics : "");
    if (query_run(&q, err) < 0)
        return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(job, err) : -1;
    return series_thin(s, SERIES_SAMPLE, job, number, err);
}

int store_sample_list(struct store *s, int64_t job, store_sample_fn fn, void *ctx, struct err *err)
{
    int rc;
    struct sample_row row;
    AUTO_QUERY struct query q = query_open(
        s, "SELECT attempt, at, step, metric, units, cpu_time, memory_mb, block_bytes, net_bytes,"
           " metrics FROM sample WHERE job = ? ORDER BY seq");
    query_int(&q, job);
    while ((rc = query_next(&q, err)) > 0) {
        uint32_t attempt = (uint32_t)query_get_int(&q);
        row.at = query_get_int(&q);
        row.step = query_get_real(&q);
        row.metric = query_get_real(&q);
        row.units = query_get_real(&q);
        row.cpu_time = query_get_real(&q);
        row.memory_mb = query_get_real(&q);
        row.block_bytes = query_get_real(&q);
        row.net_bytes = query_get_real(&q);
        row.metrics = query_get_text(&q);
        rc = fn(ctx, attempt, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
