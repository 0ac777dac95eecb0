/* Owns the arithmetic of progress, which is linear between two changes. */
#include "model/task.h"

#include <math.h>

/* Over which the use of CPUs is measured. */
#define USAGE_WINDOW (10 * USEC_PER_SEC)

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
    return t->cpu_time + t->cpu_busy / UNIT * progressed(t, now);
}

double task_cpu_measured(const struct task *t)
{
    double cpus = t->history ? history_cpus(t->history, USAGE_WINDOW) : NAN;
    return isnan(cpus) ? t->cpu_used : cpus * UNIT;
}

double task_time_on(const struct task *t, unsigned pool, units_t n, usec_t now)
{
    double speed = speed_at(job_speed(t->job, pool), n);
    return speed > 0 ? task_remaining(t, now) / speed : INFINITY;
}

usec_t task_run_time(const struct task *t, usec_t now)
{
    return t->run_time + (task_trains(t) ? now - t->resumed_at : 0);
}

usec_t task_wait_time(const struct task *t, usec_t now)
{
    bool waits = t->phase == TASK_QUEUED || t->phase == TASK_PAUSED || t->phase == TASK_STOPPING;
    return t->wait_time + (waits ? now - t->queued_at : 0);
}

/* Units that it has, or had when it was paused; 0 in other phases. */
static units_t size_of(const struct task *t)
{
    if (task_running(t))
        return t->n;
    return t->phase == TASK_PAUSED ? placement_units(&t->at) : 0;
}

bool task_moves(const struct task *t, units_t n, const struct placement *at)
{
    return placement_lost(&t->at, at) > (t->n > n ? t->n - n : 0);
}

usec_t task_change_cost(const struct task *t, units_t n, const struct placement *at)
{
    usec_t resize = n != t->n ? t->job->cost.resize : 0;
    usec_t move = task_moves(t, n, at) ? t->job->cost.move : 0;
    return move > resize ? move : resize;
}

bool task_is_paying(const struct task *t, usec_t now)
{
    enum { TIMES = 10 };
    usec_t restart = job_resume_cost(t->job), move = t->job->cost.move;
    return task_trains(t) && now < t->ready_at + TIMES * (restart > move ? restart : move);
}

bool task_keeps_size(const struct task *t)
{
    const struct job *j = t->job;
    units_t n = size_of(t);
    if (n == 0 || n < j->min || n > j->max)
        return false;
    return n == j->min || speed_floor(job_speed(j, t->pool), n) == n;
}

/* The smallest size with units on each node where the paused task is; at most what it had. A job of
 * workers has what it had. */
static units_t least_paused(const struct task *t)
{
    units_t least = 0, n = t->job->min;
    for (uint32_t i = 0; i < t->at.n; i++)
        least += t->at.at[i].units < UNIT ? t->at.at[i].units : UNIT;
    while (n && n < least)
        n = speed_next(job_speed(t->job, t->pool), n, t->job->max);
    return n && n < size_of(t) && !t->job->worker ? n : size_of(t);
}

static bool is_molded(const struct task *t)
{
    return t->job->kind == JOB_MOLDABLE && task_running(t) && task_keeps_size(t);
}

units_t task_min(const struct task *t)
{
    if (t->phase == TASK_PAUSED && t->at.n > 1 && task_keeps_size(t))
        return least_paused(t);
    if (is_molded(t) || (t->pinned && t->n < t->job->min))
        return t->n;
    return t->job->min;
}

units_t task_max(const struct task *t)
{
    return is_molded(t) ? t->n : t->most;
}

units_t task_next(const struct task *t, unsigned pool, units_t n)
{
    if (n < t->job->min)
        return t->job->min;
    return speed_next(job_speed(t->job, pool), n, task_max(t));
}

units_t task_kept(const struct task *t)
{
    /* What another policy let it grow by, it gives back if it can. */
    bool grown = t->job->kind == JOB_MALLEABLE && size_of(t) > t->asked;
    return task_keeps_size(t) && !grown ? size_of(t) : t->asked;
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
    /* Checkpoints are taken at intervals while it runs; a task that fails continues from the
     * last one. */
    double every = (double)t->job->cost.checkpoint * t->rate;
    if (t->job->cost.checkpoint <= 0)
        t->saved = done;
    else if (every > 0)
        t->saved += floor((done - t->saved) / every) * every;
    if (t->saved > done) /* because of rounding */
        t->saved = done;
    t->done = done;
    t->attained = attained;
    t->cpu_time = cpu_time;
    t->as_of = now;
}
