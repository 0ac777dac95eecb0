/* Owns forecasts: the driving of a copied engine through virtual time. A task ends
 * when its work is done at the rate that the engine reckons with; a preemption is
 * complete at once; all that happens at one instant is seen by one decision. Tasks
 * that are held stay so. */
#include "advisor/rollout.h"

#include "engine/copy.h"

/* A policy that wakes up this often without an effect, while nothing runs, will never
 * act. */
enum { IDLE_TICKS = 100 };

struct rollout {
    struct engine e;
    usec_t now;
    uint64_t looks;
    uint32_t idle;
};

struct rollout *rollout_create(const struct engine *e, usec_t now)
{
    struct rollout *r = xcalloc(1, sizeof *r);
    engine_copy(&r->e, e);
    r->e.config.explain = false; /* the copy's verdicts would be nobody's */
    r->now = now;
    return r;
}

void rollout_free(struct rollout *r)
{
    if (!r)
        return;
    engine_done(&r->e);
    free(r);
}

void rollout_result_done(struct rollout_result *r)
{
    VEC_DONE(&r->ended);
}

static int step(struct rollout *r, struct event event, struct err *err)
{
    return engine_step(&r->e, &event, r->now, err);
}

int rollout_set_work(struct rollout *r, uint32_t task, double work, struct err *err)
{
    if (task >= r->e.tasks_n || !r->e.tasks[task].job)
        return err_set(err, ERR_NOT_FOUND, "no task %u", task);
    double done = task_done(&r->e.tasks[task], r->now);
    return step(
        r,
        (struct event){
            .kind = EVENT_PROGRESS, .task = task, .work = work > done ? work : done, .done = done},
        err);
}

int rollout_set_job(struct rollout *r, uint32_t task, const struct job *job, struct err *err)
{
    return step(r, (struct event){.kind = EVENT_JOB, .task = task, .job = job}, err);
}

int rollout_cancel(struct rollout *r, uint32_t task, struct err *err)
{
    return step(r, (struct event){.kind = EVENT_END, .task = task}, err);
}

/* The next instant at which anything happens; USEC_NEVER when nothing will. */
static usec_t next_instant(struct rollout *r)
{
    const struct engine *e = &r->e;
    usec_t next = r->idle < IDLE_TICKS ? engine_due(e) : USEC_NEVER;
    for (size_t i = 0; i < e->running.n; i++) {
        usec_t end = task_end(&e->tasks[e->running.at[i]], r->now);
        next = end < next ? end : next;
    }
    r->looks += e->running.n + 1;
    return next > r->now ? next : r->now;
}

static int by_task(const void *a, const void *b)
{
    uint32_t x = ((const struct rollout_end *)a)->task, y = ((const struct rollout_end *)b)->task;
    return (x > y) - (x < y);
}

/* Ends those whose work is done, in the order of their numbers. */
static int end_tasks(struct rollout *r, struct rollout_result *out, struct err *err)
{
    const struct engine *e = &r->e;
    size_t first = out->ended.n;
    for (size_t i = 0; i < e->running.n; i++)
        if (task_end(&e->tasks[e->running.at[i]], r->now) <= r->now)
            VEC_PUSH(&out->ended, (struct rollout_end){e->running.at[i], r->now});
    if (out->ended.n > first)
        qsort(out->ended.at + first, out->ended.n - first, sizeof *out->ended.at, by_task);
    for (size_t i = first; i < out->ended.n; i++)
        if (rollout_cancel(r, out->ended.at[i].task, err) < 0)
            return -1;
    return 0;
}

static int complete_stops(struct rollout *r, struct err *err)
{
    for (uint32_t i = 0; i < r->e.tasks_n; i++)
        if (r->e.tasks[i].job && r->e.tasks[i].phase == TASK_STOPPING &&
            step(r, (struct event){.kind = EVENT_STOPPED, .task = i}, err) < 0)
            return -1;
    return 0;
}

static int decide(struct rollout *r, struct err *err)
{
    if (engine_due(&r->e) > r->now)
        return 0;
    r->looks += r->e.snapshot.active;
    if (step(r, (struct event){.kind = EVENT_TICK}, err) < 0)
        return -1;
    bool stops = false;
    for (size_t i = 0; i < r->e.effects.n; i++)
        stops |= r->e.effects.at[i].kind == EFFECT_PREEMPT;
    r->idle = r->e.effects.n == 0 && r->e.running.n == 0 ? r->idle + 1 : 0;
    return stops ? complete_stops(r, err) : 0;
}

/* What has become of the task; true when it is as far as was asked. */
static bool look(const struct rollout *r, uint32_t task, enum rollout_until until, units_t had,
                 struct rollout_result *out)
{
    const struct task *t = &r->e.tasks[task];
    if (!t->job) {
        out->end = r->now;
        return true;
    }
    if (t->phase == TASK_RUNNING && out->start == USEC_NEVER) {
        out->start = r->now;
        out->units = t->n;
    }
    if (t->phase == TASK_RUNNING && had && t->n != had && out->resized == USEC_NEVER) {
        out->resized = r->now;
        out->resized_to = t->n;
    }
    return (until == ROLLOUT_START && out->start != USEC_NEVER) ||
           (until == ROLLOUT_RESIZE && out->resized != USEC_NEVER);
}

static int run(struct rollout *r, uint32_t task, enum rollout_until until,
               const struct rollout_limits *limits, struct rollout_result *out, struct err *err)
{
    units_t had = r->e.tasks[task].n;
    usec_t last = r->now + limits->horizon;
    if (complete_stops(r, err) < 0)
        return -1;
    while (!look(r, task, until, had, out)) {
        usec_t next = next_instant(r);
        if (next == USEC_NEVER)
            return 0;
        out->cut = next > last || r->looks > limits->looks;
        if (out->cut)
            return 0;
        r->now = next;
        if (end_tasks(r, out, err) < 0 || decide(r, err) < 0)
            return -1;
    }
    return 0;
}

int rollout_run(struct rollout *r, uint32_t task, enum rollout_until until,
                const struct rollout_limits *limits, struct rollout_result *out, struct err *err)
{
    struct rollout_result found = {.start = USEC_NEVER, .end = USEC_NEVER, .resized = USEC_NEVER};
    if (task >= r->e.tasks_n || !r->e.tasks[task].job)
        return err_set(err, ERR_NOT_FOUND, "no task %u", task);
    int rc = run(r, task, until, limits, &found, err);
    if (rc < 0)
        rollout_result_done(&found);
    else
        *out = found;
    return rc;
}
