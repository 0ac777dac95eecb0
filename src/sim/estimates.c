/* Owns what policies are told about jobs in a simulation with estimates. Work that was done is
 * known; the engine's work of a task is that and what the estimator expects to be left. */
#include "sim/estimates.h"

#include <math.h>
#include <string.h>

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

/* Jobs of one model, user or virtual cluster; the first entry is all of them. */
struct estimated_group {
    const char *name;
    double logs; /* sum of logarithms of work */
    uint32_t n;
};

void estimates_init(struct estimates *e, bool on, uint64_t seed, uint32_t n)
{
    *e = (struct estimates){.on = on, .seed = seed, .n = n};
    if (!on)
        return;
    e->jobs = xcalloc(n, sizeof *e->jobs);
    e->work = xcalloc(n, sizeof *e->work);
    e->groups = xcalloc(1, sizeof *e->groups);
    e->groups_n = e->groups_cap = 1;
}

void estimates_done(struct estimates *e)
{
    for (uint32_t i = 0; e->jobs && i < e->n; i++)
        free(e->jobs[i].seen);
    free(e->jobs);
    free(e->work);
    free(e->groups);
}

static struct estimated_group *find_group(struct estimates *e, const char *name)
{
    for (uint32_t i = 1; name && i < e->groups_n; i++)
        if (!strcmp(e->groups[i].name, name))
            return &e->groups[i];
    return NULL;
}

static double expect_work(struct estimates *e, const struct job *j)
{
    const struct estimated_group *g = find_group(e, j->group), *all = &e->groups[0];
    g = g && g->n ? g : all;
    return g->n ? exp(g->logs / g->n) : UNKNOWN;
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
    return tell_left(d, task, expect_work(e, job), err);
}

void estimates_end(struct estimates *e, const struct task *t)
{
    if (!e->on)
        return;
    struct estimated_job *j = &e->jobs[t->job->id];
    struct estimated_group *g = find_group(e, t->job->group);
    free(j->seen);
    j->seen = NULL;
    if (!g && t->job->group) {
        if (e->groups_n == e->groups_cap) {
            e->groups = xgrowarray(e->groups, e->groups_cap, 2 * e->groups_cap, sizeof *e->groups);
            e->groups_cap *= 2;
        }
        g = &e->groups[e->groups_n++];
        *g = (struct estimated_group){.name = t->job->group};
    }
    for (int both = 0; both < 2; both++) {
        struct estimated_group *to = both ? g : &e->groups[0];
        if (!to || !(j->work > 0))
            continue;
        to->logs += log(j->work);
        to->n++;
    }
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
