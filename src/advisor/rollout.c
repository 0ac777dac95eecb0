/* Owns forecasts: a copy of an engine, driven through virtual time. A task ends when its
 * work is done at the rate that the engine assumes, and a preemption is complete at
 * once. Tasks that are held stay held. */
#include "advisor/rollout.h"

#include "engine/copy.h"
#include "engine/drive.h"

struct rollout {
    struct engine e;
    struct drive drive;
    uint64_t looks;
};

struct rollout *rollout_create(const struct engine *e, usec_t now)
{
    struct rollout *r = xcalloc(1, sizeof *r);
    engine_copy(&r->e, e);
    r->e.config.explain = false; /* nobody reads the copy's verdicts */
    r->e.config.instant = true;
    drive_init(&r->drive, &r->e, now);
    return r;
}

void rollout_free(struct rollout *r)
{
    if (!r)
        return;
    drive_done(&r->drive);
    engine_done(&r->e);
    free(r);
}

void rollout_result_done(struct rollout_result *r)
{
    VEC_DONE(&r->ended);
}

static int step(struct rollout *r, struct event event, struct err *err)
{
    return drive_step(&r->drive, &event, err);
}

int rollout_set_work(struct rollout *r, uint32_t task, double work, struct err *err)
{
    if (task >= r->e.tasks_n || !r->e.tasks[task].job)
        return err_set(err, ERR_NOT_FOUND, "no task %u", task);
    double done = task_done(&r->e.tasks[task], r->drive.now);
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

int rollout_add_job(struct rollout *r, const struct job *job, uint32_t *task, struct err *err)
{
    if (step(r, (struct event){.kind = EVENT_SUBMIT, .job = job}, err) < 0)
        return -1;
    *task = r->e.submitted;
    return 0;
}

int rollout_cancel(struct rollout *r, uint32_t task, struct err *err)
{
    return step(r, (struct event){.kind = EVENT_END, .task = task}, err);
}

static int end_tasks(struct rollout *r, struct rollout_result *out, struct err *err)
{
    struct rollout_end end;
    while (drive_take_ended(&r->drive, &end.task, &end.at)) {
        VEC_PUSH(&out->ended, end);
        if (rollout_cancel(r, end.task, err) < 0)
            return -1;
    }
    return 0;
}

/* Completes the stops that were under way when the engine was copied. */
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
    if (!drive_is_due(&r->drive))
        return 0;
    r->looks += r->e.snapshot.active;
    return drive_tick(&r->drive, err);
}

/* Notes what has become of the task; true when it is as far as was asked. */
static bool look(struct rollout *r, uint32_t task, enum rollout_until until, units_t had,
                 struct rollout_result *out)
{
    const struct task *t = &r->e.tasks[task];
    usec_t now = r->drive.now;
    r->looks++;
    if (!t->job) {
        out->end = now;
        return true;
    }
    if (t->phase == TASK_RUNNING && out->start == USEC_NEVER) {
        out->start = now;
        out->units = t->n;
    }
    if (t->phase == TASK_RUNNING && had && t->n != had && out->resized == USEC_NEVER) {
        out->resized = now;
        out->resized_to = t->n;
    }
    return (until == ROLLOUT_START && out->start != USEC_NEVER) ||
           (until == ROLLOUT_RESIZE && out->resized != USEC_NEVER);
}

static int run(struct rollout *r, uint32_t task, enum rollout_until until,
               const struct rollout_limits *limits, struct rollout_result *out, struct err *err)
{
    units_t had = r->e.tasks[task].n;
    usec_t last = r->drive.now + limits->horizon;
    if (complete_stops(r, err) < 0)
        return -1;
    while (!look(r, task, until, had, out)) {
        usec_t next = drive_next(&r->drive);
        if (next == USEC_NEVER)
            return 0;
        out->cut = next > last || r->looks > limits->looks;
        if (out->cut)
            return 0;
        r->drive.now = next;
        if (end_tasks(r, out, err) < 0 || decide(r, err) < 0)
            return -1;
    }
    return 0;
}

int rollout_set_policy(struct rollout *r, const struct combo *combo, struct err *err)
{
    return step(r, (struct event){.kind = EVENT_POLICY, .combo = combo}, err);
}

int rollout_begin(struct rollout *r, struct rollout_course *out, struct err *err)
{
    *out = (struct rollout_course){.tasks = r->e.tasks_n};
    out->end = xreallocarray(NULL, r->e.tasks_n, sizeof *out->end);
    for (uint32_t i = 0; i < r->e.tasks_n; i++)
        out->end[i] = USEC_NEVER;
    return complete_stops(r, err);
}

void rollout_course_done(struct rollout_course *c)
{
    free(c->end);
}

static void count_effects(const struct engine *e, struct rollout_course *c)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        enum effect_kind kind = e->effects.at[i].kind;
        c->preemptions += kind == EFFECT_PREEMPT || kind == EFFECT_PAUSE;
        c->moves += kind == EFFECT_MOVE;
        c->resizes += kind == EFFECT_RESIZE;
    }
}

int rollout_advance(struct rollout *r, usec_t last, struct rollout_course *c, struct err *err)
{
    usec_t next = drive_next(&r->drive), at;
    uint32_t task;
    if (next == USEC_NEVER || next > last)
        return 0;
    r->drive.now = next;
    while (drive_take_ended(&r->drive, &task, &at)) {
        c->end[task] = at;
        c->ended++;
        if (rollout_cancel(r, task, err) < 0)
            return -1;
    }
    bool decides = drive_is_due(&r->drive);
    if (decide(r, err) < 0)
        return -1;
    if (decides)
        count_effects(&r->e, c);
    c->looks = ++r->looks;
    return 1;
}

usec_t rollout_now(const struct rollout *r)
{
    return r->drive.now;
}

double rollout_left(const struct rollout *r, uint32_t task, usec_t at)
{
    const struct task *t = &r->e.tasks[task];
    return t->job ? task_remaining(t, at) : 0;
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
