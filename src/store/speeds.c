/* Owns the summaries of step times by size. */
#include "store/speeds.h"

#include "store/columns.h"
#include "store/job_read.h"

#define COLUMNS(X)                                                                                 \
    X(size, int)                                                                                   \
    X(units, real)                                                                                 \
    X(mean, real)                                                                                  \
    X(squares, real)                                                                               \
    X(inside, real)                                                                                \
    X(weight, real)                                                                                \
    X(last, int)

static const char save_sql[] =
    "INSERT OR REPLACE INTO speed (" COLUMNS(COLUMN_NAME) "job) VALUES (" COLUMNS(COLUMN_MARK) "?)";
static const char list_sql[] =
    "SELECT " COLUMNS(COLUMN_NAME) "job FROM speed WHERE job = ? ORDER BY size";

static void bind_row(struct query *q, const struct speed_row *row)
{
    COLUMNS(COLUMN_BIND)
}

static void read_row(struct query *q, struct speed_row *row)
{
    COLUMNS(COLUMN_READ)
}

int store_speed_save(struct store *s, int64_t job, const struct speed_row *row, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, save_sql);
    bind_row(&q, row);
    query_int(&q, job);
    if (query_run(&q, err) == 0)
        return 0;
    return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(job, err) : -1;
}

int store_speed_list(struct store *s, int64_t job, store_speed_fn fn, void *ctx, struct err *err)
{
    int rc;
    struct speed_row row;
    AUTO_QUERY struct query q = query_open(s, list_sql);
    query_int(&q, job);
    while ((rc = query_next(&q, err)) > 0) {
        read_row(&q, &row);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
