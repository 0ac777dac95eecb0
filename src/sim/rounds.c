/* Owns the progress of jobs under the rules of Pollux' simulator. The engine is told at the end
 * of each round how much is left, and after each epoch which speeds the rest has. */
#include "sim/rounds.h"

#include <math.h>

struct round_job {
    usec_t still; /* how long it still stands still */
    uint32_t epoch;
    double progress;
    struct shape shape;
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
static double train(struct round_job *j, const struct learning *l, double seconds, double slowdown)
{
    const struct goodput *g = l->goodput;
    double passed =
        (double)(j->still < (usec_t)(seconds * USEC_PER_SEC) ? j->still
                                                             : (usec_t)(seconds * USEC_PER_SEC)) /
        USEC_PER_SEC;
    j->still -= (usec_t)(passed * USEC_PER_SEC);
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
        j->batch = learning_batch(l, &j->shape, j->epoch);
    }
    return -1;
}

/* Tells the engine about the new epoch. */
static int tell_epoch(struct round_job *j, struct drive *d, uint32_t task, struct err *err)
{
    const struct job *job = d->e->tasks[task].job;
    struct job *terms = &j->terms[j->turn ^= 1];
    *terms = *job;
    terms->speeds = &job->learning->speeds[j->epoch];
    return drive_step(d, &(struct event){.kind = EVENT_JOB, .task = task, .job = terms}, err);
}

static int train_task(struct rounds *r, struct drive *d, uint32_t task, struct err *err)
{
    const struct task *t = &d->e->tasks[task];
    const struct learning *l = t->job->learning;
    struct round_job *j = &r->jobs[t->job->id];
    uint32_t epoch = j->epoch;
    double seconds = (double)(d->now - r->last) / USEC_PER_SEC;
    double slowdown = is_disturbed(d->e, task) ? 1 - r->o.interference : 1;
    double passed = train(j, l, seconds, slowdown);
    if (passed >= 0) {
        heap_set(&d->ends, task, r->last + llround(passed * USEC_PER_SEC));
        return 0;
    }
    if (j->epoch != epoch && tell_epoch(j, d, task, err) < 0)
        return -1;
    double left = learning_left(l, j->epoch, j->progress) * USEC_PER_SEC;
    double done = t->work > left ? t->work - left : 0;
    struct event event = {.kind = EVENT_PROGRESS, .task = task, .work = done + left, .done = done};
    return drive_step(d, &event, err);
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

void rounds_follow(struct rounds *r, const struct engine *e)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        const struct effect *f = &e->effects.at[i];
        const struct task *t = &e->tasks[f->task];
        if (f->kind == EFFECT_SHARE || f->kind == EFFECT_LIST || !t->job || !task_running(t))
            continue;
        struct round_job *j = &r->jobs[t->job->id];
        j->still = r->o.restart;
        j->shape = shape_of(&t->at);
        j->batch = learning_batch(t->job->learning, &j->shape, j->epoch);
    }
}
