/* Owns what is stored about nodes that operators have added. */
#include "store/engines.h"

#include "store/query.h"

#define COLUMNS "name, runtime, address, tls, cpus, gpus, gpu_type, memory_mb"

int store_engine_save(struct store *s, const struct engine_row *row, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "INSERT OR REPLACE INTO engine (" COLUMNS
                                              ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    query_text(&q, row->name);
    query_text(&q, row->runtime);
    query_text(&q, row->address);
    query_text(&q, row->tls);
    query_int(&q, row->cpus);
    query_int(&q, row->gpus);
    query_text(&q, row->gpu_type);
    query_int(&q, row->memory_mb);
    return query_run(&q, err);
}

int store_engine_delete(struct store *s, const char *name, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "DELETE FROM engine WHERE name = ?");
    query_text(&q, name);
    return query_run(&q, err);
}

int store_engine_list(struct store *s, store_engine_fn fn, void *ctx, struct err *err)
{
    int rc;
    AUTO_QUERY struct query q = query_open(s, "SELECT " COLUMNS " FROM engine ORDER BY name");
    while ((rc = query_next(&q, err)) > 0) {
        struct engine_row row = {.name = query_get_text(&q)};
        row.runtime = query_get_text(&q);
        row.address = query_get_text(&q);
        row.tls = query_get_text(&q);
        row.cpus = query_get_int(&q);
        row.gpus = query_get_int(&q);
        row.gpu_type = query_get_text(&q);
        row.memory_mb = query_get_int(&q);
        rc = fn(ctx, &row, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
