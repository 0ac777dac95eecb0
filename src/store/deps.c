/* Owns the dependencies between jobs. */
#include "store/deps.h"

#include "store/job_read.h"

int store_dep_add(struct store *s, int64_t job, int kind, int64_t on, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO dep VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
    query_int(&q, job);
    query_int(&q, kind);
    query_int(&q, on);
    if (query_run(&q, err) == 0)
        return 0;
    return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(job, err) : -1;
}

/* Calls fn() for each row. Returns 0 at the end of the list, else what fn() returned. */
static int walk_deps(struct query *q, store_dep_fn fn, void *ctx, struct err *err)
{
    int rc;
    while ((rc = query_next(q, err)) > 0) {
        int64_t job = query_get_int(q);
        int kind = (int)query_get_int(q);
        int64_t on = query_get_int(q);
        rc = fn(ctx, job, kind, on, err);
        if (rc)
            break;
    }
    return rc;
}

int store_dep_list(struct store *s, store_dep_fn fn, void *ctx, struct err *err)
{
    /* Start from the few jobs that are not over, not from the dependencies. */
    AUTO_QUERY struct query q =
        query_open(s, "SELECT dep.job, kind, on_job FROM job INDEXED BY job_live CROSS JOIN dep"
                      " ON dep.job = job.id WHERE over = 0");
    return walk_deps(&q, fn, ctx, err) < 0 ? -1 : 0;
}

int store_dep_get(struct store *s, int64_t job, store_dep_fn fn, void *ctx, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "SELECT job, kind, on_job FROM dep WHERE job = ? ORDER BY kind, on_job");
    query_int(&q, job);
    return walk_deps(&q, fn, ctx, err) < 0 ? -1 : 0;
}
