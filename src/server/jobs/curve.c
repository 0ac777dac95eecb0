/* Owns the curve of each live job's metric. */
#include "server/jobs/curve.h"

#include <math.h>
#include <string.h>

#include "server/jobs/early.h"
#include "store/samples.h"

/* A fit takes a quarter of a millisecond: one is made when the job has come this much further. */
static const double further = 1.05;

/* Whether the job is stopped when its metric has a value. */
static bool is_stopped_by_metric(const struct live_job *j)
{
    const struct condition *c = &j->submission->spec.stop_when;
    return *c->metric && !strcmp(c->metric, j->progress.metric);
}

static bool needs_curve(const struct live_job *j)
{
    return !(j->progress.total > 0) || j->progress.weak || is_stopped_by_metric(j);
}

static void fit_curve(struct live_job *j, double step)
{
    struct metric_curve *c = &j->estimate.curve;
    const struct spec *s = &j->submission->spec;
    struct steps_goal goal = {
        .target = is_stopped_by_metric(j) ? s->stop_when.value : j->terms.target,
        .metric = early_rises(s, j->progress.metric) ? METRIC_RISES : METRIC_FALLS};
    if (step < 1 || step < further * c->fitted)
        return;
    c->left = estimate_steps(c->history, &goal);
    c->fitted = step;
}

static void see_metric(struct metric_curve *c, usec_t at, double step, double metric)
{
    struct sample s = {.at = at, .step = step, .metric = metric};
    if (!c->history) {
        c->history = xmalloc(sizeof *c->history);
        history_init(c->history);
    }
    if (step < c->history->last.step) { /* it begins again */
        history_init(c->history);
        c->fitted = 0;
    }
    history_add(c->history, &s);
}

void curve_report(struct live_job *j, usec_t at, double step, double metric)
{
    if (!isfinite(metric) || !needs_curve(j))
        return;
    see_metric(&j->estimate.curve, at, step, metric);
    fit_curve(j, step);
}

bool curve_end(const struct live_job *j, double step, struct range *out)
{
    const struct metric_curve *c = &j->estimate.curve;
    const struct range *left = &c->left.steps;
    /* A flat curve is an end only for a job that is stopped when it is flat. */
    bool known = c->left.basis == STEPS_TARGET ||
                 (c->left.basis == STEPS_SETTLED && j->submission->spec.stop_when_flat.part > 0);
    if (!known || !needs_curve(j) || !(c->fitted + left->mid > step))
        return false;
    *out = (struct range){c->fitted + left->low, c->fitted + left->mid, c->fitted + left->high};
    return true;
}

bool curve_flat(const struct live_job *j, double *step)
{
    const struct metric_curve *c = &j->estimate.curve;
    if (c->left.basis != STEPS_SETTLED || !needs_curve(j))
        return false;
    *step = c->fitted + c->left.steps.mid;
    return isfinite(*step);
}

static int load_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    (void)attempt;
    (void)err;
    if (row->step >= 0 && isfinite(row->metric))
        see_metric(ctx, row->at, row->step, row->metric);
    return 0;
}

int curve_load(struct store *s, struct live_job *j, struct err *err)
{
    struct metric_curve *c = &j->estimate.curve;
    if (!needs_curve(j))
        return 0;
    if (store_sample_list(s, j->row.id, load_sample, c, err) < 0)
        return -1;
    if (c->history)
        fit_curve(j, c->history->last.step);
    return 0;
}

void curve_done(struct metric_curve *c)
{
    free(c->history);
}
