/* Owns what was learnt from finished jobs, by category. */
#include "store/categories.h"

#include "store/columns.h"

#define COLUMNS(X)                                                                                 \
    X(at, int)                                                                                     \
    X(jobs, int)                                                                                   \
    X(fixed, real)                                                                                 \
    X(parallel, real)                                                                              \
    X(comm, real)                                                                                  \
    X(estimates, int)                                                                              \
    X(inside, int)                                                                                 \
    X(error, real)                                                                                 \
    X(bias, real)

static const char save_sql[] = "INSERT OR REPLACE INTO category (" COLUMNS(
    COLUMN_NAME) "name) VALUES (" COLUMNS(COLUMN_MARK) "?)";
static const char get_sql[] = "SELECT " COLUMNS(COLUMN_NAME) "name FROM category WHERE name = ?";

static void bind_row(struct query *q, const struct category_row *row)
{
    COLUMNS(COLUMN_BIND)
}

int store_category_save(struct store *s, const struct category_row *row, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, save_sql);
    bind_row(&q, row);
    query_text(&q, row->name);
    return query_run(&q, err);
}

static void read_row(struct query *q, struct category_row *row)
{
    COLUMNS(COLUMN_READ)
}

int store_category_get(struct store *s, const char *name, struct category_row *out, struct err *err)
{
    struct category_row row = {.name = name};
    AUTO_QUERY struct query q = query_open(s, get_sql);
    query_text(&q, name);
    int rc = query_next(&q, err);
    if (rc <= 0)
        return rc;
    read_row(&q, &row);
    *out = row;
    return 1;
}
