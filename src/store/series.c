/* Owns the thinning of a job's series.
 *
 * The rows of a series are numbered from 1. The level of a row is how often its number can be
 * halved: every second one has level 0, every fourth level 1, and so on. Kept are
 *   - rows of level `grid` and above, one in 2^grid, evenly over the whole run, where grid is
 *     the lowest level that leaves at most GRID rows;
 *   - the newest NEWEST rows of each lower level, so that newer parts are denser.
 * That is at most GRID + grid * NEWEST rows; with one per second, grid is 9 after a week and 15
 * after a year. It depends only on the numbers. */
#include "store/series.h"

#include "store/fault.h"
#include "store/query.h"

enum { GRID = 1024, NEWEST = 64 };

/* The statements for one table; a query is cached by its text's address. */
struct statements {
    const char *last, *remove_one, *remove_level;
};

#define STATEMENTS(table)                                                                          \
    {                                                                                              \
        "SELECT max(seq) FROM " table " WHERE job = ?",                                            \
            "DELETE FROM " table " WHERE job = ? AND seq = ?",                                     \
            "DELETE FROM " table " WHERE job = ?1 AND seq <= ?2 AND seq & (2 * ?3 - 1) = ?3",      \
    }

static const struct statements statements[] = {
    [SERIES_SAMPLE] = STATEMENTS("sample"),
    [SERIES_GROWTH] = STATEMENTS("growth"),
};

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

static int remove_one(struct store *s, enum series of, int64_t job, int64_t number, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, statements[of].remove_one);
    query_int(&q, job);
    query_int(&q, number);
    return query_run(&q, err);
}

/* Removes the rows of a level that has left the grid, except for the newest. */
static int remove_level(struct store *s, enum series of, int64_t job, unsigned level, int64_t last,
                        struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, statements[of].remove_level);
    query_int(&q, job);
    query_int(&q, last);
    query_int(&q, INT64_C(1) << level);
    return query_run(&q, err);
}

int series_next(struct store *s, enum series of, int64_t job, int64_t *number, struct err *err)
{
    int64_t last;
    AUTO_QUERY struct query q = query_open(s, statements[of].last);
    query_int(&q, job);
    if (query_number(&q, 0, &last, err) < 0)
        return -1;
    if (last < 0 || last == INT64_MAX)
        return fault_set(NULL, s->path, SQLITE_CORRUPT, err);
    *number = last + 1;
    return 0;
}

int series_thin(struct store *s, enum series of, int64_t job, int64_t newest, struct err *err)
{
    unsigned level = level_of(newest), grid = grid_of(newest);
    /* Rows of one level are 2^(level + 1) apart. */
    if (level < grid && newest >> (level + 1) >= NEWEST &&
        remove_one(s, of, job, newest - ((int64_t)NEWEST << (level + 1)), err) < 0)
        return -1;
    if (grid > grid_of(newest - 1))
        return remove_level(s, of, job, grid - 1, newest - ((int64_t)NEWEST << grid), err);
    return 0;
}
