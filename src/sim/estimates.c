/* Owns what policies are told about jobs in a simulation with estimates. Work that was done is
 * known; the engine's work of a task is that and what the estimator expects to be left. */
#include "sim/estimates.h"

#include <math.h>

#include "base/rng.h"
#include "model/speed_fit.h"

/* Assumed for the first jobs: as in the live server, one hour on one unit. */
#define UNKNOWN (3600.0 * USEC_PER_SEC)
/* Steps of a job for which the trace has none, and how their times vary. */
#define STEPS 1000
static const double noise = 0.1;
/* The engine is told of changes above this part. */
static const double noticeable = 0.05;

struct estimated_job {
    double work;     /* true */
    double reported; /* of it, up to which steps were seen */
    struct speed_seen *seen;
    struct rng rng;
};

void estimates_init(struct estimates *e, bool on, uint64_t seed, double size_error, uint32_t n)
{
    *e = (struct estimates){.on = on, .seed = seed, .size_error = size_error, .n = n};
    if (!on)
        return;
    e->jobs = xcalloc(n, sizeof *e->jobs);
    e->work = xcalloc(n, sizeof *e->work);
    groups_init(&e->groups);
}

void estimates_done(struct estimates *e)
{
    for (uint32_t i = 0; e->jobs && i < e->n; i++)
        free(e->jobs[i].seen);
    free(e->jobs);
    free(e->work);
    groups_done(&e->groups);
}

static int tell_left(struct drive *d, uint32_t task, double left, struct err *err)
{
    double done = task_done(&d->e->tasks[task], d->now);
    struct event event = {.kind = EVENT_PROGRESS, .task = task, .work = done + left, .done = done};
    return drive_step(d, &event, err);
}

int estimates_submit(struct estimates *e, struct drive *d, uint32_t task, struct err *err)
{
    if (!e->on)
        return 0;
    const struct job *job = d->e->tasks[task].job;
    struct estimated_job *j = &e->jobs[job->id];
    *j = (struct estimated_job){.work = job->work};
    rng_init(&j->rng, rng_mix(e->seed) + job->id);
    e->work[task] = job->work;
    double known = groups_expect(&e->groups, job->group, UNKNOWN);
    double error = e->size_error > 0 ? exp(e->size_error * rng_normal(&j->rng)) : 1;
    return tell_left(d, task, known * error, err);
}

void estimates_end(struct estimates *e, const struct task *t)
{
    if (!e->on)
        return;
    struct estimated_job *j = &e->jobs[t->job->id];
    free(j->seen);
    j->seen = NULL;
    groups_end(&e->groups, t->job->group, j->work);
}

/* What the job has reported since the last look, at most a few steps, and what is left by it; NAN
 * if that is not known. */
static double report_steps(struct estimated_job *j, const struct task *t, usec_t now)
{
    double step = j->work / STEPS, done = task_done(t, now), speed = t->rate;
    uint32_t steps = (uint32_t)fmin((done - j->reported) / step, 4 * SPEED_BLOCK);
    struct range took;
    if (!(speed > 0) || t->n <= 0)
        return NAN;
    if (!j->seen && steps) {
        j->seen = xmalloc(sizeof *j->seen);
        speed_seen_init(j->seen, 0);
    }
    for (uint32_t i = 0; i < steps; i++)
        speed_seen_add(j->seen, now, t->n, step / speed * exp(noise * rng_normal(&j->rng)));
    if (steps)
        j->reported = done;
    if (!j->seen || !speed_seen_step(j->seen, now, t->n, &took))
        return NAN;
    return fmax(j->work - done, 0) / step * took.mid * speed;
}

int estimates_look(struct estimates *e, struct drive *d, struct err *err)
{
    for (size_t i = 0; e->on && i < d->e->running.n; i++) {
        uint32_t task = d->e->running.at[i];
        const struct task *t = &d->e->tasks[task];
        double left = report_steps(&e->jobs[t->job->id], t, d->now);
        double known = task_remaining(t, d->now);
        if (isnan(left) || fabs(left - known) <= noticeable * fmax(known, 1))
            continue;
        if (tell_left(d, task, left, err) < 0)
            return -1;
    }
    return 0;
}
