/* Owns the series of samples of each job, and its thinning.
 *
 * A job's samples are numbered from 1. The level of a sample is how often its number can be
 * halved: every second one has level 0, every fourth level 1, and so on. Kept are
 *   - samples of level `grid` and above, one in 2^grid, evenly over the whole run, where grid is
 *     the lowest level that leaves at most GRID samples;
 *   - the newest NEWEST samples of each lower level, so that newer parts are denser.
 * That is at most GRID + grid * NEWEST samples; with one sample per second, grid is 9 after a
 * week and 15 after a year. It depends only on the numbers. */
#include "store/samples.h"

#include "store/fault.h"
#include "store/job_read.h"

enum { GRID = 1024, NEWEST = 64 };

static unsigned level_of(int64_t number)
{
    return (unsigned)__builtin_ctzll((uint64_t)number);
}

static unsigned grid_of(int64_t count)
{
    unsigned grid = 0;
    while (count >> grid > GRID)
        grid++;
    return grid;
}

static int remove_one(struct store *s, int64_t job, int64_t number, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "DELETE FROM sample WHERE job = ? AND seq = ?");
    query_int(&q, job);
    query_int(&q, number);
    return query_run(&q, err);
}

/* Removes the samples of a level that has left the grid, except for the newest. */
static int remove_level(struct store *s, int64_t job, unsigned level, int64_t last, struct err *err)
{
    AUTO_QUERY struct query q = query_open(
        s, "DELETE FROM sample WHERE job = ?1 AND seq <= ?2 AND seq & (2 * ?3 - 1) = ?3");
    query_int(&q, job);
    query_int(&q, last);
    query_int(&q, INT64_C(1) << level);
    return query_run(&q, err);
}

static int thin(struct store *s, int64_t job, int64_t newest, struct err *err)
{
    unsigned level = level_of(newest), grid = grid_of(newest);
    /* Samples of one level are 2^(level + 1) apart. */
    if (level < grid && newest >> (level + 1) >= NEWEST &&
        remove_one(s, job, newest - ((int64_t)NEWEST << (level + 1)), err) < 0)
        return -1;
    if (grid > grid_of(newest - 1))
        return remove_level(s, job, grid - 1, newest - ((int64_t)NEWEST << grid), err);
    return 0;
}

static int last_number(struct store *s, int64_t job, int64_t *number, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "SELECT max(seq) FROM sample WHERE job = ?");
    query_int(&q, job);
    return query_number(&q, 0, number, err);
}

int store_sample_add(struct store *s, int64_t job, uint32_t attempt, const struct sample_row *row,
                     struct err *err)
{
    int64_t number;
    if (last_number(s, job, &number, err) < 0)
        return -1;
    if (number < 0 || number == INT64_MAX)
        return fault_set(NULL, s->path, SQLITE_CORRUPT, err);
    number++;
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
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
    if (query_run(&q, err) < 0)
        return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(job, err) : -1;
    return thin(s, job, number, err);
}

int store_sample_list(struct store *s, int64_t job, store_sample_fn fn, void *ctx, struct err *err)
{
    int rc;
    struct sample_row row;
    AUTO_QUERY struct query q = query_open(
        s, "SELECT attempt, at, step, metric, units, cpu_time, memory_mb, block_bytes, net_bytes"
           " FROM sample WHERE job = ? ORDER BY seq");
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
        rc = fn(ctx, attempt, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
