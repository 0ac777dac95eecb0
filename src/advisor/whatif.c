/* Owns what-ifs. All policies see the same draws, so that their difference is not noise: what is
 * left of a job is drawn from a log-normal distribution whose 10-90 % band is that of its
 * estimate, by the number of the draw and of the task.
 *
 * Within a course a policy knows how long each job takes. So the spread of the draws tells how
 * much the result depends on the lengths of jobs, not what wrong estimates cost. */
#include "advisor/whatif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "advisor/rollout.h"
#include "base/rng.h"
#include "engine/copy.h"

/* Longer than anyone waits, and what one course may cost. */
#define HORIZON (366LL * 86400 * USEC_PER_SEC)
#define LOOKS 20000000
/* In a short future other courses may cost this many times what the first one may. */
#define OTHERS_COST 3
/* The engine's limit. */
#define WORK_MAX 1e17

struct band {
    double median, sigma; /* of the factor by which what is left differs; sigma 0 = it is sure */
};

struct policy_course {
    const struct combo *combo; /* NULL = the engine's own */
    bool failed, cut;
    double *left; /* as expected */
    struct err err;
    usec_t *end;                        /* as expected */
    VEC(struct whatif_figures) courses; /* the expected one first */
};

struct whatif {
    struct arena arena;
    struct engine base;
    usec_t now;
    usec_t last;          /* up to which courses are followed */
    uint64_t first_looks; /* what the first course may cost; 0 = any */
    struct band *bands;   /* by task */
    uint32_t tasks;
    VEC(struct policy_course) policies;
    uint32_t policy, draw; /* of the course that is under way or comes next; draw 0 = expected */
    struct rollout *r;     /* NULL = it has not begun */
    struct rollout_course course;
};

/* ---- the beginning ------------------------------------------------------------- */

struct whatif *whatif_create(const struct engine *e, usec_t now)
{
    struct whatif *w = xcalloc(1, sizeof *w);
    w->now = now;
    w->last = now + HORIZON;
    engine_copy(&w->base, e);
    w->base.config.explain = false;
    for (uint32_t i = 0; i < w->base.tasks_n; i++)
        if (w->base.tasks[i].job)
            w->base.tasks[i].job = job_copy(w->base.tasks[i].job, &w->arena);
    w->tasks = w->base.tasks_n;
    w->bands = xcalloc(w->tasks + 1, sizeof *w->bands);
    return w;
}

static void end_course(struct whatif *w)
{
    rollout_free(w->r);
    rollout_course_done(&w->course);
    w->r = NULL;
    w->course = (struct rollout_course){0};
}

void whatif_free(struct whatif *w)
{
    if (!w)
        return;
    end_course(w);
    for (size_t i = 0; i < w->policies.n; i++) {
        free(w->policies.at[i].end);
        free(w->policies.at[i].left);
        VEC_DONE(&w->policies.at[i].courses);
    }
    VEC_DONE(&w->policies);
    free(w->bands);
    engine_done(&w->base);
    arena_done(&w->arena);
    free(w);
}

int whatif_add_job(struct whatif *w, const struct job *job, uint32_t *task, struct err *err)
{
    struct job *copy = job_copy(job, &w->arena);
    copy->submit = w->now;
    struct event event = {.kind = EVENT_SUBMIT, .job = copy};
    if (engine_step(&w->base, &event, w->now, err) < 0)
        return -1;
    if (w->base.tasks_n > w->tasks)
        w->bands = xgrowarray(w->bands, w->tasks + 1, w->base.tasks_n + 1, sizeof *w->bands);
    w->tasks = w->base.tasks_n;
    *task = w->base.submitted;
    return 0;
}

int whatif_add_node(struct whatif *w, const struct capacity *has, struct err *err)
{
    struct event event = {.kind = EVENT_CAPACITY, .node = w->base.cluster.n, .has = has};
    return engine_step(&w->base, &event, w->now, err);
}

int whatif_set_work(struct whatif *w, uint32_t task, double work, struct err *err)
{
    double done = task_done(&w->base.tasks[task], w->now);
    struct event event = {
        .kind = EVENT_PROGRESS, .task = task, .work = work > done ? work : done, .done = done};
    return engine_step(&w->base, &event, w->now, err);
}

void whatif_set_band(struct whatif *w, uint32_t task, double low, double high)
{
    if (low > 0 && high >= low && isfinite(high))
        w->bands[task] = (struct band){sqrt(low * high), log(high / low) / (2 * RANGE_Z)};
}

void whatif_add_policy(struct whatif *w, const struct combo *combo)
{
    struct combo *kept = combo ? ARENA_NEW(&w->arena, struct combo) : NULL;
    if (combo)
        *kept = *combo;
    VEC_PUSH(&w->policies, (struct policy_course){.combo = kept});
}

uint32_t whatif_policies(const struct whatif *w)
{
    return (uint32_t)w->policies.n;
}

void whatif_shorten(struct whatif *w, uint64_t looks)
{
    w->first_looks = looks;
}

/* ---- courses ------------------------------------------------------------------- */

static bool counts(const struct task *t)
{
    return t->job && t->phase != TASK_HELD;
}

/* What is left of each task in this draw. */
static int draw_lengths(struct whatif *w, struct err *err)
{
    for (uint32_t i = 0; i < w->tasks; i++) {
        const struct task *t = &w->base.tasks[i];
        const struct band *b = &w->bands[i];
        struct rng rng;
        if (!counts(t) || !(b->sigma > 0))
            continue;
        rng_init(&rng, rng_mix(w->draw) ^ rng_mix((uint64_t)t->job->id << 32 | i));
        double done = task_done(t, w->now), left = fmax(t->work - done, 0);
        left *= b->median * exp(b->sigma * rng_normal(&rng));
        if (rollout_set_work(w->r, i, fmin(done + left, WORK_MAX), err) < 0)
            return -1;
    }
    return 0;
}

static int begin_course(struct whatif *w, const struct policy_course *p, struct err *err)
{
    w->r = rollout_create(&w->base, w->now);
    if ((p->combo && rollout_set_policy(w->r, p->combo, err) < 0) ||
        (w->draw && draw_lengths(w, err) < 0))
        return -1;
    return rollout_begin(w->r, &w->course, err);
}

static struct whatif_figures sum_up(const struct whatif *w)
{
    const struct rollout_course *c = &w->course;
    struct whatif_figures f = {
        .ended = c->ended, .preemptions = c->preemptions, .moves = c->moves, .resizes = c->resizes};
    double sum = 0;
    usec_t last = w->now;
    for (uint32_t i = 0; i < c->tasks; i++) {
        const struct task *t = &w->base.tasks[i];
        if (!counts(t))
            continue;
        f.missed += t->job->deadline != USEC_NEVER && c->end[i] > t->job->deadline;
        if (c->end[i] == USEC_NEVER)
            continue;
        sum += time_seconds(c->end[i] - t->job->submit);
        last = c->end[i] > last ? c->end[i] : last;
    }
    f.mean_s = f.ended ? sum / f.ended : NAN;
    f.makespan_s = time_seconds(last - w->now);
    return f;
}

static void complete_course(struct whatif *w, struct policy_course *p)
{
    VEC_PUSH(&p->courses, sum_up(w));
    if (w->draw == 0) {
        p->left = xcalloc(w->tasks + 1, sizeof *p->left);
        for (uint32_t i = 0; i < w->tasks; i++)
            p->left[i] = rollout_left(w->r, i, w->last);
        p->end = w->course.end;
        w->course.end = NULL;
    }
    end_course(w);
}

static void next_course(struct whatif *w)
{
    w->policy++;
    if (w->policy < w->policies.n)
        return;
    w->policy = 0;
    w->draw++;
}

/* Whether the course has cost as much as it may. If it is the first one of a short future, all
 * others end where it does. */
static bool is_too_long(struct whatif *w, struct policy_course *p)
{
    bool first = !w->policy && !w->draw && w->first_looks;
    uint64_t most = w->first_looks ? OTHERS_COST * w->first_looks : LOOKS;
    if (w->course.looks <= (first ? w->first_looks : most))
        return false;
    if (first)
        w->last = rollout_now(w->r);
    p->cut |= !first;
    return true;
}

bool whatif_work(struct whatif *w)
{
    if (!w->policies.n || w->draw > WHATIF_DRAWS)
        return false;
    struct policy_course *p = &w->policies.at[w->policy];
    if (p->failed) {
        next_course(w);
        return true;
    }
    if (!w->r && begin_course(w, p, &p->err) < 0) {
        p->failed = true;
        end_course(w);
        return true;
    }
    int rc = rollout_advance(w->r, w->last, &w->course, &p->err);
    if (rc > 0 && !is_too_long(w, p))
        return true;
    p->failed = rc < 0;
    if (rc < 0)
        end_course(w);
    else
        complete_course(w, p);
    next_course(w);
    return true;
}

/* ---- the end ------------------------------------------------------------------- */

int whatif_draws(const struct whatif *w)
{
    return (int)w->draw - 1;
}

uint32_t whatif_last(const struct whatif *w)
{
    return w->tasks;
}

const struct job *whatif_job(const struct whatif *w, uint32_t task)
{
    const struct task *t = &w->base.tasks[task];
    return counts(t) ? t->job : NULL;
}

const struct cluster *whatif_cluster(const struct whatif *w)
{
    return &w->base.cluster;
}

uint32_t whatif_tasks(const struct whatif *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->tasks; i++)
        n += counts(&w->base.tasks[i]);
    return n;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, uint32_t n, double q)
{
    double at = q * (n - 1);
    uint32_t low = (uint32_t)at, high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

enum figure { FIGURE_MEAN, FIGURE_MAKESPAN, FIGURE_MISSED };

static double figure_of(const struct whatif_figures *f, enum figure which)
{
    return which == FIGURE_MEAN ? f->mean_s : which == FIGURE_MAKESPAN ? f->makespan_s : f->missed;
}

/* Over the draws that all policies have; without any, what is expected. */
static struct range spread(const struct policy_course *p, uint32_t draws, enum figure which)
{
    double values[WHATIF_DRAWS];
    double expected = figure_of(&p->courses.at[0], which);
    if (!draws)
        return (struct range){expected, expected, expected};
    for (uint32_t i = 0; i < draws; i++)
        values[i] = figure_of(&p->courses.at[1 + i], which);
    qsort(values, draws, sizeof *values, compare_doubles);
    return (struct range){quantile(values, draws, 0.1), quantile(values, draws, 0.5),
                          quantile(values, draws, 0.9)};
}

/* The part of the draws in which the policy has a lower mean than the first one. */
static double part_better(const struct whatif *w, const struct policy_course *p, uint32_t draws)
{
    const struct policy_course *first = &w->policies.at[0];
    uint32_t better = 0;
    if (first->failed || !draws)
        return NAN;
    for (uint32_t i = 1; i <= draws; i++)
        better += p->courses.at[i].mean_s < first->courses.at[i].mean_s;
    return (double)better / draws;
}

void whatif_result(const struct whatif *w, uint32_t i, struct whatif_policy *out)
{
    const struct policy_course *p = &w->policies.at[i];
    uint32_t draws = w->draw > 1 ? w->draw - 1 : 0;
    *out = (struct whatif_policy){.name = p->combo ? p->combo->name : w->base.config.combo.name,
                                  .failed = p->failed};
    snprintf(out->error, sizeof out->error, "%s", p->failed ? p->err.text : "");
    if (p->failed || !p->courses.n) {
        out->failed = true;
        return;
    }
    out->cut = p->cut;
    out->until = w->last < w->now + HORIZON ? w->last : USEC_NEVER;
    out->left = p->left;
    out->expected = p->courses.at[0];
    out->mean_s = spread(p, draws, FIGURE_MEAN);
    out->makespan_s = spread(p, draws, FIGURE_MAKESPAN);
    out->missed = spread(p, draws, FIGURE_MISSED);
    out->better = part_better(w, p, draws);
    out->end = p->end;
}
