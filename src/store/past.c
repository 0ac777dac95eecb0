/* Owns earlier runs, by category. */
#include "store/past.h"

#include "store/columns.h"

#define COLUMNS(X)                                                                                 \
    X(arguments, text)                                                                             \
    X(at, int)                                                                                     \
    X(step, real)                                                                                  \
    X(work, real)

static const char save_sql[] = "INSERT OR REPLACE INTO past (" COLUMNS(
    COLUMN_NAME) "category) VALUES (" COLUMNS(COLUMN_MARK) "?)";
static const char trim_sql[] =
    "DELETE FROM past WHERE category = ?1 AND arguments NOT IN (SELECT arguments FROM past"
    " WHERE category = ?1 ORDER BY at DESC, arguments LIMIT ?2)";
static const char list_sql[] = "SELECT " COLUMNS(
    COLUMN_NAME) "category FROM past WHERE category = ? ORDER BY at DESC, arguments";

static void bind_row(struct query *q, const struct past_row *row)
{
    COLUMNS(COLUMN_BIND)
}

static void read_row(struct query *q, struct past_row *row)
{
    COLUMNS(COLUMN_READ)
}

int store_past_save(struct store *s, const struct past_row *row, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, save_sql);
    bind_row(&q, row);
    query_text(&q, row->category);
    if (query_run(&q, err) < 0)
        return -1;
    AUTO_QUERY struct query trim = query_open(s, trim_sql);
    query_text(&trim, row->category);
    query_int(&trim, STORE_PAST_KEPT);
    return query_run(&trim, err);
}

int store_past_list(struct store *s, const char *category, store_past_fn fn, void *ctx,
                    struct err *err)
{
    int rc;
    struct past_row row;
    AUTO_QUERY struct query q = query_open(s, list_sql);
    query_text(&q, category);
    while ((rc = query_next(&q, err)) > 0) {
        read_row(&q, &row);
        row.category = category;
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
