/* Owns the second half of a migration: columns that follow from requests. */
#include "server/upgrade.h"

#include "server/jobs/submission.h"
#include "server/jobs/terms.h"
#include "server/log.h"
#include "store/job_list.h"
#include "store/store.h"

struct upgrade {
    struct store *store;
    const struct cluster *cluster;
    struct submissions submissions;
};

/* Sizes that a user had set before the migration stay. */
static void fill(struct job_row *row, const struct terms *t)
{
    int64_t cpus_min = row->cpus_min, cpus_max = row->cpus_max;
    terms_to_row(t, row);
    if (cpus_max) {
        row->cpus_min = cpus_min;
        row->cpus_max = cpus_max;
    }
}

static int upgrade_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct upgrade *u = ctx;
    struct job_row new = *row;
    struct terms terms;
    struct err why;
    struct submission *s = submission_get(&u->submissions, u->store, row->request, &why);
    int rc = 0;
    if (s && terms_from_spec(&s->spec, u->cluster, &terms, &why) == 0) {
        fill(&new, &terms);
        rc = store_job_save(u->store, &new, err);
    } else {
        log_warning("job=%lld its terms are not shown: %s", (long long)row->id, why.text);
    }
    submission_drop(&u->submissions, s);
    return rc;
}

int upgrade_requests(struct store *store, const struct cluster *cluster, struct err *err)
{
    AUTO_FREE char *unread = store_meta_get(store, STORE_META_REQUESTS);
    struct upgrade u = {store, cluster, {{0}}};
    struct job_filter all = {.oldest_first = true};
    if (!unread)
        return 0;
    int rc = store_job_list(store, &all, upgrade_job, &u, err);
    if (rc == 0)
        rc = store_meta_set(store, STORE_META_REQUESTS, NULL, err);
    submissions_done(&u.submissions);
    return rc;
}
