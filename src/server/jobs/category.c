/* Owns what is learnt by category. The shape of the speed curve is a running mean over jobs that
 * were measured on at least two sizes, in which the newest counts for an eighth or more: programs
 * change. A row that makes no sense, such as one that was edited by hand, counts as none. */
#include "server/jobs/category.h"

#include <math.h>
#include <stdlib.h>

#include "server/jobs/past.h"
#include "server/log.h"
#include "store/categories.h"

/* Jobs that the mean remembers. */
enum { REMEMBERED = 8 };

static bool is_shape(const struct category_row *row)
{
    return row->jobs && isfinite(row->fixed + row->parallel + row->comm) && row->fixed >= 0 &&
           row->parallel >= 0 && row->comm >= 0 && row->fixed + row->parallel > 0;
}

static bool is_score(const struct category_row *row)
{
    return row->estimates && row->inside <= row->estimates && row->error >= 0 &&
           row->error <= ESTIMATE_ERROR_MAX && fabs(row->bias) <= ESTIMATE_ERROR_MAX;
}

void category_find(struct yard *y, struct live_job *j)
{
    AUTO_FREE char *name = past_category(j);
    struct category_row row;
    struct err err;
    int rc = store_category_get(y->store, name, &row, &err);
    if (rc < 0)
        log_warning("job=%lld category: %s", (long long)j->row.id, err.text);
    if (rc <= 0)
        return;
    j->estimate.prior.shaped = is_shape(&row);
    if (j->estimate.prior.shaped) {
        j->estimate.prior.shape = (struct speed_shape){row.fixed, row.parallel, row.comm};
        estimate_fit(j, clock_wall(&y->clock));
    }
    if (is_score(&row))
        j->estimate.prior.score =
            (struct estimate_score){row.estimates, row.inside, row.error, row.bias};
}

static void learn_shape(const struct speed_fit *fit, struct category_row *row)
{
    double one = fit->step.fixed + fit->step.parallel;
    if (fit->sizes < 2 || !(one > 0))
        return;
    if (!is_shape(row))
        row->jobs = 0;
    row->jobs = row->jobs < REMEMBERED ? row->jobs + 1 : REMEMBERED;
    double part = 1.0 / row->jobs;
    if (row->jobs == 1)
        row->fixed = row->parallel = row->comm = 0;
    row->fixed += (fit->step.fixed / one - row->fixed) * part;
    row->parallel += (fit->step.parallel / one - row->parallel) * part;
    row->comm += (fit->step.comm / one - row->comm) * part;
}

/* Pauses and restarts were not foreseen, so only a job that ran in one go is compared. */
static void learn_score(const struct live_job *j, struct category_row *row)
{
    const struct estimate_record *r = &j->estimate.quarter;
    if (!r->at || j->row.attempt != 1 ||
        j->row.ended - j->row.started - j->row.run_time > USEC_PER_SEC)
        return;
    struct estimate_score score = {0};
    if (is_score(row))
        score = (struct estimate_score){row->estimates, row->inside, row->error, row->bias};
    estimate_score_add(&score, r, j->row.ended);
    row->estimates = score.n;
    row->inside = score.inside;
    row->error = score.error;
    row->bias = score.bias;
}

void category_learn(struct yard *y, const struct live_job *j)
{
    AUTO_FREE char *name = past_category(j);
    struct category_row row = {.fixed = NAN, .parallel = NAN, .comm = NAN};
    struct err err;
    if (!j->estimate.seen)
        return;
    if (store_category_get(y->store, name, &row, &err) < 0) {
        log_warning("job=%lld category: %s", (long long)j->row.id, err.text);
        return;
    }
    row.name = name;
    row.at = clock_wall(&y->clock);
    learn_shape(&j->estimate.fit, &row);
    learn_score(j, &row);
    if (store_category_save(y->store, &row, &err) < 0)
        log_warning("job=%lld category: %s", (long long)j->row.id, err.text);
}
