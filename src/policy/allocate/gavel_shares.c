/* Owns what gavel's objectives mean: each is a problem of dividing time (timeshare.c), with what a
 * job gains in a pool and how much it needs. `finish` searches for the ratio at which needs can
 * just be met. */
#include "policy/allocate/gavel_shares.h"

#include <math.h>

#include "policy/allocate/timeshare.h"

/* Shares are rounded to whole parts of this, so that rounding errors decide nothing. */
#define GRAIN 4096.0F

/* The speed of a job that has each type of its kind in proportion to its size. */
static double mean_rate(const struct gavel_shares *g, const struct task *t, const double *rate)
{
    double sum = 0, all = 0;
    for (unsigned p = 0; p < g->s->pools; p++)
        if ((p == POOL_CPU) == (t->job->pool == POOL_CPU)) {
            sum += rate[p] * (double)g->s->size[p];
            all += (double)g->s->size[p];
        }
    return sum / all;
}

/* The speed of a job that is alone on 1/m of the cluster. */
static double rate_alone(const struct gavel_shares *g, const struct task *t, const double *rate,
                         uint32_t m)
{
    double sum = 0, time = 0, units = (double)task_asked(t);
    for (unsigned p = 0; p < g->s->pools; p++) {
        double share = rate[p] > 0 ? (double)g->s->size[p] / m / units : 0;
        sum += rate[p] * share;
        time += share;
    }
    return sum / fmax(time, 1);
}

/* The tasks that can run somewhere, as a problem of dividing time. */
struct problem {
    struct timeshare share;
    uint32_t *at; /* by job of the problem: index of the task */
    double *units, *rate, *need, *x;
};

static void collect(const struct gavel_shares *g, struct problem *q)
{
    struct arena *a = g->arena;
    uint32_t n = g->s->active, m = 0;
    double *size = ARENA_ARRAY(a, g->s->pools, double);
    *q = (struct problem){.at = ARENA_ARRAY(a, n, uint32_t),
                          .units = ARENA_ARRAY(a, n, double),
                          .need = ARENA_ARRAY(a, n, double),
                          .rate = ARENA_ARRAY(a, (size_t)n * g->s->pools, double),
                          .x = ARENA_ARRAY(a, (size_t)n * g->s->pools, double)};
    for (unsigned p = 0; p < g->s->pools; p++)
        size[p] = (double)g->s->size[p] / UNIT;
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &g->s->tasks[g->k[i].task];
        double best = 0, *rate = q->rate + (size_t)m * g->s->pools;
        for (unsigned p = 0; p < g->s->pools; p++) {
            double r = rate[p] = g->rate[(size_t)i * g->s->pools + p];
            best = fmax(best, r);
            if (g->objective == GAVEL_LAS)
                rate[p] = r > 0;
            if (g->objective == GAVEL_COST)
                rate[p] /= g->price[p];
        }
        q->units[m] = (double)task_asked(t) / UNIT;
        q->at[m] = i;
        m += best > 0;
    }
    q->share = (struct timeshare){m, g->s->pools, size, q->units, q->rate};
}

static double seconds_left(const struct gavel_shares *g, const struct task *t)
{
    return fmax(task_remaining(t, g->s->now) / USEC_PER_SEC, 1e-3);
}

/* Sets what each job needs so that its completion time is `ratio` times that alone. */
static void need_for(const struct gavel_shares *g, struct problem *q, double ratio)
{
    for (uint32_t j = 0; j < q->share.jobs; j++) {
        const struct task *t = &g->s->tasks[g->k[q->at[j]].task];
        const struct memo *m = &g->memo[q->at[j]];
        double left = seconds_left(g, t), since = (double)(g->s->now - t->submit) / USEC_PER_SEC;
        q->need[j] = left / (ratio * (m->d[0] + left / m->d[2]) - since);
    }
}

/* Books the time alone of what each job has done since the last round. Returns the ratio that the
 * worst would have if it ended now. */
static double book_alone(const struct gavel_shares *g, const struct problem *q)
{
    double worst = 0;
    for (uint32_t j = 0; j < q->share.jobs; j++) {
        const struct task *t = &g->s->tasks[g->k[q->at[j]].task];
        struct memo *m = &g->memo[q->at[j]];
        double left = seconds_left(g, t), since = (double)(g->s->now - t->submit) / USEC_PER_SEC;
        m->d[0] += m->d[2] > 0 ? fmax(m->d[1] - left, 0) / m->d[2] : 0;
        m->d[1] = left;
        m->d[2] = rate_alone(g, t, q->rate + (size_t)j * g->s->pools, q->share.jobs);
        worst = fmax(worst, since / (m->d[0] + left / m->d[2]));
    }
    return worst;
}

/* The smallest ratio, within one percent, by bisection. */
static void divide_by_finish(const struct gavel_shares *g, struct problem *q)
{
    double low = book_alone(g, q), high = fmax(2 * low, 1), level = 0;
    for (int i = 0; i < 40 && level < 1; i++, high *= level < 1 ? 2 : 1) {
        need_for(g, q, high);
        level = timeshare_fair(&q->share, q->need, g->arena, q->x);
    }
    while (high - low > 0.01 * high) {
        double middle = (low + high) / 2;
        need_for(g, q, middle);
        bool possible = timeshare_fair(&q->share, q->need, g->arena, q->x) >= 1;
        *(possible ? &high : &low) = middle;
    }
    need_for(g, q, high);
    timeshare_fair(&q->share, q->need, g->arena, q->x);
}

void gavel_divide(const struct gavel_shares *g)
{
    enum gavel_objective objective = g->objective;
    struct problem q;
    collect(g, &q);
    for (uint32_t j = 0; j < q.share.jobs; j++) {
        const struct task *t = &g->s->tasks[g->k[q.at[j]].task];
        q.need[j] =
            objective == GAVEL_MAKESPAN
                ? seconds_left(g, t)
                : t->job->weight / q.units[j] * mean_rate(g, t, q.rate + (size_t)j * g->s->pools);
    }
    if (objective == GAVEL_FINISH)
        divide_by_finish(g, &q);
    else if (objective == GAVEL_COST)
        timeshare_sum(&q.share, g->arena, q.x);
    else
        timeshare_fair(&q.share, q.need, g->arena, q.x);
    for (uint32_t i = 0; i < g->s->active; i++)
        memset(g->memo[i].pool[0], 0, sizeof g->memo[i].pool[0]);
    for (uint32_t j = 0; j < q.share.jobs; j++)
        for (unsigned p = 0; p < g->s->pools; p++)
            g->memo[q.at[j]].pool[0][p] =
                rintf((float)q.x[(size_t)j * g->s->pools + p] * GRAIN) / GRAIN;
}
