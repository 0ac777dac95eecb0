/* Owns virtual time: predicted ends, the next instant, and when to give up on an engine
 * that keeps waking up without doing anything. */
#include "engine/drive.h"

/* A policy that wakes up so often over an idle cluster will never act. */
enum { IDLE_TICKS = 1000 };

/* When the task ends by what it really takes. */
static usec_t true_end(const struct drive *d, uint32_t task)
{
    struct task t = d->e->tasks[task];
    t.work = d->work[task];
    return task_end(&t, d->now);
}

void drive_predict(struct drive *d, uint32_t task)
{
    const struct task *t = &d->e->tasks[task];
    bool runs = t->job && task_trains(t);
    if (runs && d->told)
        return;
    usec_t end = !runs ? USEC_NEVER : d->work ? true_end(d, task) : task_end(t, d->now);
    if (end == USEC_NEVER) {
        heap_remove(&d->ends, task);
        return;
    }
    if (d->end_grain)
        end = (end + d->end_grain - 1) / d->end_grain * d->end_grain;
    heap_set(&d->ends, task, end);
}

void drive_init(struct drive *d, struct engine *e, usec_t now)
{
    *d = (struct drive){.e = e, .now = now};
    for (size_t i = 0; i < e->running.n; i++)
        drive_predict(d, e->running.at[i]);
}

void drive_done(struct drive *d)
{
    heap_done(&d->ends);
}

int drive_step(struct drive *d, const struct event *event, struct err *err)
{
    const struct engine *e = d->e;
    if (engine_step(d->e, event, d->now, err) < 0)
        return -1;
    for (size_t i = 0; i < e->touched.n; i++)
        drive_predict(d, e->touched.at[i]);
    return 0;
}

usec_t drive_next(const struct drive *d)
{
    usec_t next = d->idle_ticks < IDLE_TICKS ? engine_due(d->e) : USEC_NEVER;
    if (d->ends.n && heap_top(&d->ends).key < next)
        next = heap_top(&d->ends).key;
    return next > d->now ? next : d->now;
}

bool drive_take_ended(struct drive *d, uint32_t *task, usec_t *end)
{
    if (!d->ends.n || heap_top(&d->ends).key > d->now)
        return false;
    struct heap_entry top = heap_pop(&d->ends);
    *task = top.id;
    *end = top.key;
    return true;
}

bool drive_is_due(const struct drive *d)
{
    return engine_due(d->e) <= d->now;
}

int drive_tick(struct drive *d, struct err *err)
{
    if (drive_step(d, &(struct event){.kind = EVENT_TICK}, err) < 0)
        return -1;
    bool idle = d->e->effects.n == 0 && d->e->running.n == 0;
    d->idle_ticks = idle ? d->idle_ticks + 1 : 0;
    return 0;
}
