/* Owns the second half of a migration: columns that are derived from requests. */
#include "server/upgrade.h"

#include "server/jobs/submission.h"
#include "server/jobs/terms.h"
#include "server/log.h"
#include "store/attempts.h"
#include "store/job_list.h"
#include "store/store.h"

struct upgrade {
    struct store *store;
    struct submissions submissions;
    struct terms terms; /* of the current job */
};

/* Keeps a size that a user has set; it is in the row already. Jobs with a deadline that named no
 * size had one CPU. */
static int upgrade_row(struct upgrade *u, const struct job_row *old, struct err *err)
{
    struct job_row row = *old;
    terms_to_row(&u->terms, &row);
    if (old->cpus_max) {
        row.cpus_min = old->cpus_min;
        row.cpus_max = old->cpus_max;
    } else if (!row.cpus_max) {
        row.cpus_min = row.cpus_max = UNIT;
    }
    return store_job_save(u->store, &row, err);
}

/* Earlier versions did not store the grace of a stop in progress; the job's applies. */
static int upgrade_attempt(void *ctx, const struct attempt_row *old, struct err *err)
{
    struct upgrade *u = ctx;
    struct attempt_row row = *old;
    if (job_state_over(old->state) || !*old->stop)
        return 0;
    row.grace = u->terms.grace;
    return store_attempt_save(u->store, &row, err);
}

static int upgrade_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct upgrade *u = ctx;
    struct submission *s = submission_get(&u->submissions, u->store, row->request, err);
    if (!s) {
        if (err->code == ERR_IO || err->code == ERR_INTERNAL)
            return -1; /* the store failed, not the request */
        log_warning("job=%lld cannot read its sizes and limits: %s", (long long)row->id, err->text);
        return 0;
    }
    int rc = terms_from_spec(&s->spec, &u->terms, err);
    if (rc == 0)
        rc = upgrade_row(u, row, err);
    if (rc == 0 && row->state == JOB_STOPPING)
        rc = store_attempt_list(u->store, row->id, upgrade_attempt, u, err);
    submission_drop(&u->submissions, s);
    return rc;
}

int upgrade_requests(struct store *store, struct err *err)
{
    AUTO_FREE char *unread = store_meta_get(store, STORE_META_REQUESTS);
    struct upgrade u = {.store = store};
    struct job_filter all = {.oldest_first = true};
    if (!unread)
        return 0;
    int rc = store_job_list(store, &all, upgrade_job, &u, err);
    if (rc == 0)
        rc = store_meta_set(store, STORE_META_REQUESTS, NULL, err);
    submissions_done(&u.submissions);
    return rc;
}
