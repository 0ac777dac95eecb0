/* Owns the counting of an array's jobs. */
#include "store/array_count.h"

#include "store/query.h"

static int read_count(struct query *q, struct array_count *c, struct err *err)
{
    const char *name = query_get_text(q);
    int state = job_state_parse(name ? name : "");
    if (state < 0)
        return err_set(err, ERR_INTERNAL, "unknown state '%.40s' of a job", name ? name : "");
    int64_t jobs = query_get_int(q), first = query_get_int(q), last = query_get_int(q),
            id = query_get_int(q);
    c->in[state] = jobs;
    c->first = !c->jobs || first < c->first ? first : c->first;
    c->last = !c->jobs || last > c->last ? last : c->last;
    c->last_id = id > c->last_id ? id : c->last_id;
    c->jobs += jobs;
    return 0;
}

int store_array_count(struct store *s, int64_t array, struct array_count *out, struct err *err)
{
    struct array_count c = {0};
    int rc;
    AUTO_QUERY struct query q = query_open(
        s, "SELECT state, count(*), min(array_index), max(array_index), max(id)"
           " FROM job INDEXED BY job_array WHERE array = ? AND array > 0 GROUP BY state");
    query_int(&q, array);
    while ((rc = query_next(&q, err)) > 0)
        if (read_count(&q, &c, err) < 0)
            return -1;
    if (rc == 0)
        *out = c;
    return rc;
}
