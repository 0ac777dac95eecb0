/* Owns the values of groups at the steps where their members are compared. */
#include "store/rungs.h"

#include "store/job_read.h"

int store_rung_add(struct store *s, int64_t job, int64_t step, double value, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO rung VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
    query_int(&q, job);
    query_int(&q, step);
    query_real(&q, value);
    if (query_run(&q, err) == 0)
        return 0;
    return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? job_no_such(job, err) : -1;
}

int store_rung_list(struct store *s, const char *user, const char *group, int64_t step,
                    store_rung_fn fn, void *ctx, struct err *err)
{
    int rc;
    AUTO_QUERY struct query q =
        query_open(s, "SELECT id, state, value FROM job INDEXED BY job_group"
                      " JOIN rung ON rung.job = id AND rung.step = ?1"
                      " WHERE group_name = ?2 AND group_name <> '' AND user = ?3 ORDER BY id");
    query_int(&q, step);
    query_text(&q, group);
    query_text(&q, user);
    while ((rc = query_next(&q, err)) > 0) {
        int64_t job = query_get_int(&q);
        int state = job_state_parse(query_get_text(&q));
        double value = query_get_real(&q);
        if (state < 0)
            return err_set(err, ERR_IO, "job %lld has an unknown state", (long long)job);
        rc = fn(ctx, job, (enum job_state)state, value, err);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
    return rc;
}
