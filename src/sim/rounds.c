/* Owns the progress of jobs under the rules of the simulators of Pollux and Sia. The engine is told
 * at the end of each round how much is left, and after each epoch which speeds the rest has. */
#include "sim/rounds.h"

#include <math.h>

#include "base/rng.h"

struct round_job {
    const struct job *job; /* as submitted */
    double error;          /* by which its size is wrong: a factor */
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
    struct arena guess[2]; /* curves of terms[] that are not known */
};

/* Assumed of the first jobs, as in the live server: an hour on one unit, and this speed on n. */
#define UNKNOWN_S 3600.0

static double guessed_speedup(double n)
{
    return n / (1 + 0.05 * (n - 1));
}

void rounds_init(struct rounds *r, const struct rounds_options *o, uint32_t n)
{
    *r = (struct rounds){.o = *o, .jobs = xcalloc(n, sizeof *r->jobs), .n = n};
    groups_init(&r->groups);
}

void rounds_done(struct rounds *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        for (int k = 0; k < 2; k++)
            arena_done(&r->jobs[i].guess[k]);
    free(r->jobs);
    r->jobs = NULL;
    groups_done(&r->groups);
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

/* The curve as it is known when sizes up to `known` were seen; beyond them it is a guess. One unit
 * is always known. */
static struct speed learned_speed(const struct speed *speed, uint32_t known, units_t most,
                                  struct arena *a)
{
    uint32_t n = (uint32_t)(most / UNIT);
    units_t seen = speed_runs(speed) ? speed_floor(speed, (known > 1 ? known : 1) * UNIT) : 0;
    if (!seen || seen >= most)
        return *speed;
    double *s = ARENA_ARRAY(a, n, double), base = guessed_speedup((double)seen / UNIT);
    for (uint32_t k = 1; k <= n; k++) {
        units_t size = k * UNIT;
        if (speed_floor(speed, size) == size)
            s[k - 1] = size <= seen ? speed_at(speed, size)
                                    : speed_at(speed, seen) * guessed_speedup(k) / base;
    }
    return speed_table(a, s, n);
}

/* Sets the sizes that the job is offered, and its curves as its group has shown them. */
static void limit_terms(const struct rounds *r, struct round_job *j, struct job *terms)
{
    units_t limit = largest_up_to(terms, (j->tried ? 2 * j->tried : 1) * UNIT);
    struct arena *a = &j->guess[j->turn];
    terms->max = limit > terms->min ? limit : terms->min;
    terms->req = terms->req < terms->max ? terms->req : terms->max;
    arena_reset(a);
    struct speed *speeds = ARENA_ARRAY(a, terms->nspeeds, struct speed);
    for (uint32_t i = 0; i < terms->nspeeds; i++) {
        uint32_t type = terms->nspeeds > 1 && i > 0 ? i - 1 : 0;
        uint32_t known = groups_most(&r->groups, terms->group, type);
        speeds[i] = learned_speed(&terms->speeds[i], known, terms->max, a);
    }
    terms->speeds = speeds;
}

/* Tells the engine the job's speeds in its epoch, and its sizes. */
static int tell_terms(const struct rounds *r, struct round_job *j, struct drive *d, uint32_t task,
                      struct err *err)
{
    struct job *terms = &j->terms[j->turn ^= 1];
    *terms = *j->job;
    terms->speeds = learning_speeds(j->job->learning, j->epoch);
    if (r->o.learned)
        limit_terms(r, j, terms);
    return drive_step(d, &(struct event){.kind = EVENT_JOB, .task = task, .job = terms}, err);
}

/* Seconds on one unit that the job has done. */
static double done_of(const struct round_job *j)
{
    const struct learning *l = j->job->learning;
    return fmax(l->left[0] - learning_left(l, j->epoch, j->progress), 0);
}

/* Seconds on one unit that are expected to be left. A job that has outlived its expected size goes
 * on for a tenth of what it has done, and one whose size is uncertain at least; but for as long as
 * it has run where no other job of its group has ended. */
static double expect_left(const struct rounds *r, const struct round_job *j, double done,
                          double left)
{
    const char *group = j->job->group;
    double least = done / 10, size = done + left;
    bool certain = j->error == 1;
    if (certain && !r->o.learned)
        return left;
    if (r->o.learned) {
        size = groups_expect(&r->groups, group, UNKNOWN_S);
        least = groups_is_known(&r->groups, group) ? least : done;
        certain = certain && size * j->error > done && groups_is_known(&r->groups, group);
    }
    size *= j->error;
    return certain ? size - done : fmax(size - done, least);
}

/* Tells the engine how much is left, as far as that is known. */
static int tell_left(const struct rounds *r, const struct round_job *j, struct drive *d,
                     uint32_t task, struct err *err)
{
    double done = done_of(j);
    double left = expect_left(r, j, done, learning_left(j->job->learning, j->epoch, j->progress));
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
    *j = (struct round_job){.job = job, .error = exp(r->o.size_error * rng_normal(&rng))};
    if (r->o.learned && tell_terms(r, j, d, task, err) < 0)
        return -1;
    return tell_left(r, j, d, task, err);
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
        groups_end(&r->groups, j->job->group, j->job->learning->left[0]);
        r->ended = true;
        return 0;
    }
    j->tried = j->shape.replicas > tried ? j->shape.replicas : tried;
    groups_train(&r->groups, j->job->group, j->type, j->shape.replicas);
    groups_go_on(&r->groups, j->job->group, done_of(j));
    bool grown = r->o.learned && j->tried != tried;
    if ((j->epoch != epoch || grown) && tell_terms(r, j, d, task, err) < 0)
        return -1;
    return tell_left(r, j, d, task, err);
}

/* Jobs that wait are seen in another light when others of their group have ended. */
static int reconsider_waiting(const struct rounds *r, struct drive *d, struct err *err)
{
    for (uint32_t i = d->e->snapshot.first; i != TASK_NONE; i = d->e->links[i].next) {
        const struct task *t = &d->e->tasks[i];
        if (!task_running(t) && tell_left(r, &r->jobs[t->job->id], d, i, err) < 0)
            return -1;
    }
    return 0;
}

int rounds_train(struct rounds *r, struct drive *d, struct err *err)
{
    r->ended = false;
    for (size_t i = 0; i < d->e->running.n; i++)
        if (train_task(r, d, d->e->running.at[i], err) < 0)
            return -1;
    if (r->o.learned && r->ended && reconsider_waiting(r, d, err) < 0)
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
