/* Owns the filling of future slots. Deadlines are not rounded to slots: the slot that contains
 * one is used up to it, assuming that work with an earlier deadline comes first there. The
 * slot in which a demand ends is booked only in part. Every change of size on the way costs
 * its stop. */
#include "policy/allocate/forecast.h"

#include <math.h>

/* The width of later slots as a share of their distance from now. */
static const double growth = 0.1;
/* Rounding errors that booking and unbooking leave. */
static const double units_slack = 1e-3, work_slack = 1e-12;

void demand_init(struct demand *d, const struct snapshot *s, uint32_t task, unsigned pool,
                 struct arena *a)
{
    const struct task *t = &s->tasks[task];
    const struct speed *speed = job_speed(t->job, pool);
    uint32_t cap = 1;
    for (units_t n = task_min(t); (n = task_next(t, pool, n)) != 0;)
        cap++;
    units_t *size = arena_raw(a, cap * sizeof *size);
    double *rate = arena_raw(a, cap * sizeof *rate);
    uint16_t sizes = 0;
    for (units_t n = task_min(t); n; n = task_next(t, pool, n)) {
        double r = speed_at(speed, n);
        if (sizes && r <= rate[sizes - 1])
            continue;
        size[sizes] = n;
        rate[sizes++] = r;
    }
    usec_t deadline = t->job->deadline;
    *d = (struct demand){
        .task = task,
        .size = size,
        .rate = rate,
        .sizes = sizes,
        .work = task_remaining(t, s->now),
        .deadline = deadline == USEC_NEVER ? INFINITY : (double)(deadline - s->now),
        .resize = (double)t->job->cost.resize,
        .resume = (double)job_resume_cost(t->job),
        .pause = task_running(t) && t->ready_at > s->now ? (double)(t->ready_at - s->now) : 0,
        .held = task_running(t) && task_keeps_size(t) ? t->n : 0,
        .started = t->starts > 0,
    };
}

static double change_cost(const struct demand *d, units_t from, bool started)
{
    return from ? d->resize : started ? d->resume : 0;
}

/* The cost of choosing this size now. */
static double demand_stop(const struct demand *d, unsigned level)
{
    return d->size[level] == d->held ? d->pause : change_cost(d, d->held, d->started);
}

double demand_finish(const struct demand *d, unsigned level)
{
    return demand_stop(d, level) + d->work / d->rate[level];
}

int demand_level(const struct demand *d, units_t n)
{
    int l = d->sizes;
    while (l > 0 && d->size[l - 1] > n)
        l--;
    return l - 1;
}

void forecast_init(struct forecast *f, units_t size, double width, double until)
{
    f->size = (double)size;
    f->edge[0] = 0;
    for (f->n = 0; f->n < FORECAST_SLOTS && f->edge[f->n] < until; f->n++) {
        double grown = f->edge[f->n] * growth;
        f->edge[f->n + 1] = f->edge[f->n] + (grown > width ? grown : width);
    }
    forecast_clear(f);
}

void forecast_clear(struct forecast *f)
{
    for (uint32_t k = 0; k < f->n; k++)
        f->free[k] = f->size;
}

/* Plans the demand with at most this size in every slot; true if it ends in time. */
static bool fill(const struct forecast *f, struct demand *d, unsigned most)
{
    double work = d->work, pause = d->pause;
    units_t held = d->held;
    bool started = d->started;
    for (uint32_t k = 0; k < f->n && f->edge[k] < d->deadline; k++) {
        double length = f->edge[k + 1] - f->edge[k], room = f->free[k];
        if (f->edge[k + 1] > d->deadline) {
            double part = d->deadline - f->edge[k];
            room = f->size - (f->size - room) * length / part;
            length = part;
        }
        unsigned level = most + 1;
        while (level && (double)d->size[level - 1] > room + units_slack)
            level--;
        d->level[k] = (uint16_t)level;
        if (!level) {
            held = 0;
            pause = 0;
            continue;
        }
        if (d->size[level - 1] != held) {
            pause = change_cost(d, held, started);
            held = d->size[level - 1];
            started = true;
        }
        double stopped = pause < length ? pause : length;
        double done = (length - stopped) * d->rate[level - 1];
        pause -= stopped;
        if (done >= work * (1 - work_slack)) {
            d->last = k;
            d->tail = stopped + work / d->rate[level - 1];
            return true;
        }
        work -= done;
    }
    return false;
}

bool forecast_place(const struct forecast *f, struct demand *d, unsigned level)
{
    unsigned largest = d->sizes - 1U;
    if (fill(f, d, level))
        return true;
    /* If the largest size does not suffice, none in between does. */
    if (level == largest || !fill(f, d, largest))
        return false;
    while (++level < largest)
        if (fill(f, d, level))
            return true;
    return fill(f, d, largest);
}

void forecast_book(struct forecast *f, const struct demand *d, double sign)
{
    for (uint32_t k = 0; k <= d->last; k++) {
        if (!d->level[k])
            continue;
        double part = k == d->last ? d->tail / (f->edge[k + 1] - f->edge[k]) : 1;
        f->free[k] -= sign * part * (double)d->size[d->level[k] - 1];
    }
}
