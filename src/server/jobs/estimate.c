/* Owns the estimator of each live job.
 *
 * The time between two reports, divided by the steps between them, is the time of a step on
 * the job's current size. These times give the speed on every size (model/speed_fit.h); the
 * remaining steps then give the time left, with a band. Once a job was observed on two sizes,
 * its measured curve replaces the assumption that twice the CPUs make it twice as fast. */
#include "server/jobs/estimate.h"

#include <math.h>

#include "server/jobs/gang.h"
#include "server/jobs/live.h"
#include "server/jobs/past.h"
#include "server/jobs/rules.h"
#include "server/yard.h"
#include "store/speeds.h"

/* The weight of an observation halves in this time. */
#define HALF_LIFE (1800 * USEC_PER_SEC)
/* A curve is passed to the engine when it differs by more than this. */
#define NOTICEABLE 0.05
/* Reports at least this far apart are not silence. */
#define SILENT (10 * USEC_PER_SEC)

/* The units that set its speed: its share if CPUs are shared, otherwise what it holds. */
static units_t units_of(const struct attempt *a)
{
    if (a->pool != POOL_CPU)
        return gang_gpus(a);
    return a->share > 0 && !a->next_part ? a->share : gang_cpus(a);
}

enum steps_basis estimate_end(const struct live_job *j, struct range *end)
{
    double total = j->progress.total;
    struct range curve;
    bool told = total > 0 && !j->progress.weak; /* a weak total may not be the training's */
    if (curve_end(j, j->estimate.place.step, &curve) && !(told && total <= curve.mid)) {
        *end = told ? (struct range){curve.low, curve.mid, fmin(total, curve.high)} : curve;
        return j->estimate.curve.left.basis;
    }
    if (told)
        *end = (struct range){total, total, total};
    return told ? STEPS_DECLARED : STEPS_UNKNOWN;
}

/* Steps from this one to the end. */
static struct steps_left steps_from(const struct live_job *j, double step)
{
    struct range end;
    enum steps_basis basis = estimate_end(j, &end);
    if (basis == STEPS_UNKNOWN)
        return (struct steps_left){basis, {0, 0, 0}};
    return (struct steps_left){
        basis, {fmax(end.low - step, 0), fmax(end.mid - step, 0), fmax(end.high - step, 0)}};
}

/* ---- where it is ---------------------------------------------------------------- */

/* Microseconds for what is missing at this step, on this size. */
static struct range time_for_rest(const struct live_job *j, double step, units_t units)
{
    const struct job_estimate *e = &j->estimate;
    struct steps_left left = steps_from(j, step);
    double missing = left.steps.mid;
    struct range t;
    if (left.basis == STEPS_DECLARED && e->seen) {
        if (!speed_seen_step(e->seen, e->place.at, units, &t)) /* not measured on this size */
            t = speed_fit_step(&e->fit, units);
        return speed_seen_rest(e->seen, &t, missing);
    }
    return estimate_time(&e->fit, &left, units);
}

/* How long it has advanced since its place was known. A job that reports nothing for much
 * longer than before is not expected to advance. */
static double time_since(const struct yard *y, const struct job_estimate *e)
{
    usec_t passed = clock_wall(&y->clock) - e->place.at;
    usec_t most = 2 * e->every > SILENT ? 2 * e->every : SILENT;
    return (double)(passed < 0 ? 0 : passed > most ? most : passed);
}

void estimate_break(const struct yard *y, struct live_job *j, const struct attempt *ran)
{
    struct job_estimate *e = &j->estimate;
    e->at = 0;
    if (ran && estimate_knows_work(j)) {
        double left = time_for_rest(j, e->place.step, units_of(ran)).mid;
        double part = left > 0 ? fmin(time_since(y, e) / left, 1) : 0;
        e->place.step += part * steps_from(j, e->place.step).steps.mid;
    }
    e->place.at = clock_wall(&y->clock);
}

/* ---- reports ------------------------------------------------------------------- */

static void see_step(struct job_estimate *e, usec_t at, double step, units_t units)
{
    if (!e->seen) {
        e->seen = xmalloc(sizeof *e->seen);
        speed_seen_init(e->seen, HALF_LIFE);
    }
    speed_seen_add(e->seen, at, units, (double)(at - e->at) / (step - e->step));
}

void estimate_fit(struct live_job *j, usec_t at)
{
    static const struct speed_seen nothing;
    struct job_estimate *e = &j->estimate;
    speed_fit(e->seen ? e->seen : &nothing, at, e->prior.shaped ? &e->prior.shape : NULL, &e->fit);
}

/* What is expected at a quarter of its steps is compared with its end. */
static void keep_quarter(struct yard *y, struct live_job *j, usec_t at, double step)
{
    struct job_estimate *e = &j->estimate;
    struct range left;
    if (e->quarter.at || !(j->progress.total > 0) || j->progress.weak ||
        step < j->progress.total / 4 || !estimate_left(y, j, &left))
        return;
    struct range us = {left.low * 1e6, left.mid * 1e6, left.high * 1e6};
    e->quarter = estimate_record_make(at, &us);
}

/* Passes a new or changed curve to the engine. */
static void tell_curve(struct yard *y, struct live_job *j)
{
    struct job_estimate *e = &j->estimate;
    units_t most = j->terms.pool == POOL_CPU ? j->terms.cpus_max : j->terms.gpus_max;
    if (!speed_fit_is_curve(&e->fit) || !e->fit.sizes || most <= UNIT)
        return;
    double best = speed_fit_step(&e->fit, UNIT).mid / speed_fit_step(&e->fit, most).mid;
    if (e->told == e->fit.sizes && fabs(best - e->told_best) <= NOTICEABLE * e->told_best)
        return;
    e->told = e->fit.sizes;
    e->told_best = best;
    rules_tell_terms(y, j);
}

void estimate_report(struct yard *y, struct live_job *j, usec_t at, double step, double metric)
{
    struct job_estimate *e = &j->estimate;
    const struct task *t = yard_task(y, j);
    if (isnan(step) || !j->attempt || !t || !task_running(t))
        return;
    bool advanced = e->at && at > e->at && step > e->step;
    if (advanced) {
        see_step(e, at, step, units_of(j->attempt));
        estimate_fit(j, at);
        e->every = at - e->at;
    }
    if (!e->at || advanced || step < e->step) { /* a job that steps back begins again */
        e->at = at;
        e->step = step;
    }
    e->place.known = true;
    e->place.at = at;
    e->place.step = step;
    curve_report(j, at, step, metric);
    if (advanced) {
        tell_curve(y, j);
        keep_quarter(y, j, at, step);
    }
}

/* ---- what follows ---------------------------------------------------------------- */

bool estimate_knows_work(const struct live_job *j)
{
    struct range end;
    return j->estimate.fit.sizes > 0 && j->estimate.place.known &&
           estimate_end(j, &end) != STEPS_UNKNOWN;
}

bool estimate_left_on(const struct yard *y, const struct live_job *j, units_t units,
                      struct range *out)
{
    if (!j->attempt || !estimate_knows_work(j))
        return false;
    struct range left = time_for_rest(j, j->estimate.place.step, units);
    double passed = j->attempt->paused ? 0 : time_since(y, &j->estimate);
    *out = (struct range){fmax(left.low - passed, 0) / 1e6, fmax(left.mid - passed, 0) / 1e6,
                          fmax(left.high - passed, 0) / 1e6};
    return isfinite(out->mid);
}

bool estimate_left(const struct yard *y, const struct live_job *j, struct range *out)
{
    return j->attempt && estimate_left_on(y, j, units_of(j->attempt), out);
}

double estimate_rate(const struct yard *y, const struct live_job *j)
{
    struct range left;
    if (j->progress.rate > 0)
        return j->progress.rate;
    bool known = estimate_left(y, j, &left) && left.mid > 0;
    return known ? steps_from(j, j->estimate.place.step).steps.mid / left.mid : NAN;
}

/* Chosen so that the engine, at its own rate, expects the same end as the estimator. */
double estimate_work(const struct yard *y, const struct live_job *j, double done)
{
    const struct task *t = yard_task(y, j);
    struct range left;
    if (t && estimate_knows_work(j)) /* a task that does not run keeps its last estimate */
        return t->rate > 0 && estimate_left(y, j, &left) ? done + left.mid * 1e6 * t->rate
                                                         : fmax(t->work, done);
    double past = past_work(j, done);
    return isnan(past) ? fmax(TERMS_WORK_UNKNOWN, 2 * done) : past;
}

/* ---- the store --------------------------------------------------------------------- */

int estimate_save(struct store *s, const struct live_job *j, struct err *err)
{
    const struct speed_seen *seen = j->estimate.seen;
    for (size_t i = 0; seen && i < SPEED_SIZES; i++) {
        const struct speed_size *at = &seen->at[i];
        struct speed_row row = {at->size,   at->units,  at->mean, at->squares,
                                at->inside, at->weight, at->last};
        if (at->size && at->weight > 0 && store_speed_save(s, j->row.id, &row, err) < 0)
            return -1;
    }
    return 0;
}

struct loading {
    struct job_estimate *e;
    uint32_t n;
};

static int load_size(void *ctx, const struct speed_row *row, struct err *err)
{
    struct loading *l = ctx;
    (void)err;
    if (!l->e->seen) {
        l->e->seen = xmalloc(sizeof *l->e->seen);
        speed_seen_init(l->e->seen, HALF_LIFE);
    }
    if (l->n == SPEED_SIZES)
        return 1;
    l->e->seen->at[l->n++] = (struct speed_size){.size = row->size,
                                                 .units = row->units,
                                                 .mean = row->mean,
                                                 .squares = row->squares,
                                                 .inside = row->inside,
                                                 .weight = row->weight,
                                                 .last = row->last};
    return 0;
}

int estimate_load(struct store *s, struct live_job *j, struct err *err)
{
    struct loading l = {&j->estimate, 0};
    if (!j->row.attempt)
        return 0;
    if (store_speed_list(s, j->row.id, load_size, &l, err) < 0)
        return -1;
    j->estimate.place.known = isfinite(j->row.step);
    j->estimate.place.at = j->row.progress_at;
    j->estimate.place.step = j->row.step;
    if (l.n || j->estimate.prior.shaped)
        estimate_fit(j, j->row.progress_at);
    return curve_load(s, j, err);
}

void estimate_done(struct job_estimate *e)
{
    free(e->seen);
    curve_done(&e->curve);
}
