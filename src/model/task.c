/* Owns the arithmetic of progress: linear between two changes. */
#include "model/task.h"

#include <math.h>

/* Microseconds of progress between as_of and now. */
static double progressed(const struct task *t, usec_t now)
{
    usec_t from = t->ready_at > t->as_of ? t->ready_at : t->as_of;
    return now > from ? (double)(now - from) : 0;
}

double task_done(const struct task *t, usec_t now)
{
    return t->rate > 0 ? t->done + t->rate * progressed(t, now) : t->done;
}

double task_remaining(const struct task *t, usec_t now)
{
    double left = t->work - task_done(t, now);
    return left > 0 ? left : 0;
}

double task_attained(const struct task *t, usec_t now)
{
    return t->attained + (double)t->n / UNIT * (double)(now - t->as_of);
}

double task_cpu_time(const struct task *t, usec_t now)
{
    return t->cpu_time + t->cpu_used / UNIT * progressed(t, now);
}

double task_time_on(const struct task *t, unsigned pool, units_t n, usec_t now)
{
    double speed = speed_at(job_speed(t->job, pool), n);
    return speed > 0 ? task_remaining(t, now) / speed : INFINITY;
}

usec_t task_end(const struct task *t, usec_t now)
{
    if (!(t->rate > 0))
        return USEC_NEVER;
    double left = task_remaining(t, now) / t->rate;
    usec_t from = t->ready_at > now ? t->ready_at : now;
    return left < (double)USEC_LIMIT ? from + llround(left) : USEC_NEVER;
}

void task_advance(struct task *t, usec_t now)
{
    if (now <= t->as_of)
        return;
    double done = task_done(t, now), attained = task_attained(t, now);
    double cpu_time = task_cpu_time(t, now);
    /* A checkpoint is taken every so often while it runs; the last one counts
     * when its node fails. */
    double every = (double)t->job->cost.checkpoint * t->rate;
    if (t->job->cost.checkpoint <= 0)
        t->saved = done;
    else if (every > 0)
        t->saved += floor((done - t->saved) / every) * every;
    t->done = done;
    t->attained = attained;
    t->cpu_time = cpu_time;
    t->as_of = now;
}
