/* Owns the progress of jobs under the rules of the simulators of Pollux and Sia. The engine is told
 * at the end of each round how much is left, and after each epoch which speeds the rest has. */
#include "sim/rounds.h"

#include <math.h>

#include "base/rng.h"

struct round_job {
    const struct job *job; /* as submitted */
    double belief;         /* its size as it is known, in terms of what it is */
    uint32_t tried;        /* most replicas that it has trained on */
    usec_t still;          /* how long it still stands still */
    uint32_t epoch;
    double progress;
    struct shape shape;
    uint32_t type; /* of the GPUs that it is on, from 0 */
    struct goodput_batch batch;
    struct job
        terms[2]; /* the job with the speeds of its epoch: in turn, as the engine holds one */
    unsigned turn;
};

void rounds_init(struct rounds *r, const struct rounds_options *o, uint32_t n)
{
    *r = (struct rounds){.o = *o, .jobs = xcalloc(n, sizeof *r->jobs), .n = n};
}

void rounds_done(struct rounds *r)
{
    free(r->jobs);
    r->jobs = NULL;
}

usec_t rounds_next(const struct rounds *r, const struct engine *e, usec_t arrival)
{
    usec_t length = r->o.length, next = r->last + length;
    if (e->snapshot.active || arrival == USEC_NEVER)
        return next;
    usec_t seen = (arrival + length - 1) / length * length;
    return seen > next ? seen : next;
}

static bool is_distributed(const struct task *t)
{
    return t->at.n > 1;
}

/* Whether another task on several nodes is on one of this task's. */
static bool is_disturbed(const struct engine *e, uint32_t task)
{
    const struct task *t = &e->tasks[task];
    for (uint32_t i = 0; is_distributed(t) && i < t->at.n; i++) {
        const struct node *node = &e->cluster.nodes[t->at.at[i].node];
        for (size_t k = 0; k < node->tasks.n; k++)
            if (node->tasks.at[k] != task && is_distributed(&e->tasks[node->tasks.at[k]]))
                return true;
    }
    return false;
}

/* Trains for so many seconds. Returns how many of them passed before it was done; negative if
 * it is not. */
static double train(struct round_job *j, double seconds, double slowdown)
{
    const struct learning *l = j->job->learning;
    const struct goodput *g = &l->goodput[j->type];
    double passed = fmin((double)j->still / USEC_PER_SEC, seconds);
    j->still -= llround(passed * USEC_PER_SEC);
    while (passed < seconds) {
        double left = seconds - passed, next = g->progress[j->epoch + 1];
        double rate = goodput_rate(g, &j->shape, j->epoch, j->batch) * slowdown;
        if (j->progress + rate * left < next) {
            j->progress += rate * left;
            return -1;
        }
        passed += fmin(rint((next - j->progress) / rate), left);
        j->progress = next;
        if (++j->epoch == g->epochs)
            return passed;
        j->batch = learning_batch(l, j->type, &j->shape, j->epoch);
    }
    return -1;
}

/* The largest size up to n on which some type runs the job. */
static units_t largest_up_to(const struct job *j, units_t n)
{
    units_t most = n < j->max ? n : j->max, found = 0;
    for (uint8_t i = 0; i < j->nspeeds; i++) {
        units_t here = speed_runs(&j->speeds[i]) ? speed_floor(&j->speeds[i], most) : 0;
        found = here > found ? here : found;
    }
    return found;
}

/* Tells the engine the job's speeds in its epoch, and its sizes. */
static int tell_terms(const struct rounds *r, struct round_job *j, struct drive *d, uint32_t task,
                      struct err *err)
{
    struct job *terms = &j->terms[j->turn ^= 1];
    *terms = *j->job;
    terms->speeds = learning_speeds(j->job->learning, j->epoch);
    if (r->o.learned) {
        units_t limit = largest_up_to(terms, (j->tried ? 2 * j->tried : 1) * UNIT);
        terms->max = limit > terms->min ? limit : terms->min;
        terms->req = terms->req < terms->max ? terms->req : terms->max;
    }
    return drive_step(d, &(struct event){.kind = EVENT_JOB, .task = task, .job = terms}, err);
}

/* Tells the engine how much is left, as far as that is known. A job that has outlived its
 * expected size is expected to go on for a tenth of what it has done. */
static int tell_left(const struct round_job *j, struct drive *d, uint32_t task, struct err *err)
{
    const struct learning *l = j->job->learning;
    double left = learning_left(l, j->epoch, j->progress), done = fmax(l->left[0] - left, 0);
    if (j->belief != 1)
        left = fmax(l->left[0] * j->belief - done, done / 10);
    struct event event = {.kind = EVENT_PROGRESS,
                          .task = task,
                          .work = (done + left) * USEC_PER_SEC,
                          .done = done * USEC_PER_SEC};
    return drive_step(d, &event, err);
}

int rounds_submit(struct rounds *r, struct drive *d, uint32_t task, struct err *err)
{
    const struct job *job = d->e->tasks[task].job;
    struct round_job *j = &r->jobs[job->id];
    struct rng rng;
    rng_init(&rng, rng_mix(r->o.seed) + job->id);
    *j = (struct round_job){.job = job, .belief = exp(r->o.size_error * rng_normal(&rng))};
    if (r->o.learned && tell_terms(r, j, d, task, err) < 0)
        return -1;
    return tell_left(j, d, task, err);
}

static int train_task(struct rounds *r, struct drive *d, uint32_t task, struct err *err)
{
    const struct task *t = &d->e->tasks[task];
    struct round_job *j = &r->jobs[t->job->id];
    uint32_t epoch = j->epoch, tried = j->tried;
    double seconds = (double)(d->now - r->last) / USEC_PER_SEC;
    double slowdown = is_disturbed(d->e, task) ? 1 - r->o.interference : 1;
    double passed = train(j, seconds, slowdown);
    if (passed >= 0) {
        heap_set(&d->ends, task, r->last + llround(passed * USEC_PER_SEC));
        return 0;
    }
    j->tried = j->shape.replicas > tried ? j->shape.replicas : tried;
    bool grown = r->o.learned && j->tried != tried;
    if ((j->epoch != epoch || grown) && tell_terms(r, j, d, task, err) < 0)
        return -1;
    return tell_left(j, d, task, err);
}

int rounds_train(struct rounds *r, struct drive *d, struct err *err)
{
    for (size_t i = 0; i < d->e->running.n; i++)
        if (train_task(r, d, d->e->running.at[i], err) < 0)
            return -1;
    r->last = d->now;
    engine_wake(d->e, d->now);
    return 0;
}

/* The task is on other units than before. */
static void place_job(const struct rounds *r, struct round_job *j, const struct task *t,
                      bool starts)
{
    struct shape shape = shape_of(&t->at), old = j->shape;
    uint32_t type = j->job->learning->types > 1 ? t->pool - POOL_GPU : 0;
    bool same = shape.key == old.key && shape.nodes == old.nodes &&
                shape.replicas == old.replicas && type == j->type;
    if (starts || !same || !r->o.shapes_only)
        j->still = j->job->cost.restart;
    j->type = type;
    j->shape = shape;
    j->batch = learning_batch(j->job->learning, type, &shape, j->epoch);
}

void rounds_follow(struct rounds *r, const struct engine *e)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        const struct effect *f = &e->effects.at[i];
        const struct task *t = &e->tasks[f->task];
        if (f->kind == EFFECT_SHARE || f->kind == EFFECT_LIST || !t->job || !task_running(t))
            continue;
        place_job(r, &r->jobs[t->job->id], t, f->kind == EFFECT_START);
    }
}
