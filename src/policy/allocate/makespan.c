/* makespan: all jobs done as early as possible.
 *
 * Let T be the shortest time in which the work that is left could be done: each job takes, of the
 * sizes and GPU types with which it is done within T, the one with the least units x time, and the
 * sum of these is at most T times all units. It is found by bisection. Jobs are served by the time
 * that they need so, the longest first: it has the least slack. Each gets that size on the type on
 * which it is fastest among those with room. What is left goes to the same jobs in the same order,
 * one size at a time.
 *
 * While one job runs, the time left of those that wait becomes the longest. So jobs are looked at
 * again every `round`. A running job goes before one that needs longer by less than a restart
 * costs, and is not stopped before it has trained for ten times that.
 *
 * Source: longest remaining processing time first (McNaughton, "Scheduling with deadlines and loss
 * functions", 1959; Pinedo, "Scheduling", 5.2), with sizes as in Turek, Wolf, Yu, "Approximate
 * algorithms for scheduling parallelizable tasks" (SPAA'92). Deviations: jobs arrive over time, and
 * units of different types count alike in the sum. */
#include <math.h>

#include "policy/budget.h"
#include "policy/order.h"
#include "policy/policies.h"

enum { ROUND };

/* How a task is done within some time. */
struct way {
    units_t n; /* 0 = it is not */
    double time;
};

struct race {
    const struct snapshot *s;
    struct plan *plan;
    struct keyed *k;  /* the active tasks */
    struct way *ways; /* theirs, within the time that all need */
};

/* The largest size of the task in the pool; 0 = it does not run there. */
static units_t most_in(const struct snapshot *s, const struct task *t, unsigned pool)
{
    units_t most = task_max(t) < s->size[pool] ? task_max(t) : s->size[pool];
    return task_may_use(t, pool) && most >= task_min(t) ? most : 0;
}

/* Of all sizes and pools the one with the least units x time; with `within` 0 the fastest. */
static struct way best_way(const struct snapshot *s, const struct task *t, double within)
{
    struct way best = {0};
    double least = INFINITY;
    for (unsigned p = 0; p < s->pools; p++) {
        units_t most = most_in(s, t, p);
        for (units_t n = most ? task_min(t) : 0; n && n <= most; n = task_next(t, p, n)) {
            double time = task_time_on(t, p, n, s->now);
            double key = within > 0 ? time * (double)n : time;
            if (key < least && (time <= within || !(within > 0))) {
                least = key;
                best = (struct way){n, time};
            }
        }
    }
    return best;
}

/* Sets the ways within this time. Returns units x time of all of them. */
static double choose_ways(const struct race *r, double within)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->s->active; i++) {
        r->ways[i] = best_way(r->s, &r->s->tasks[r->k[i].task], within);
        sum += r->ways[i].time * (double)r->ways[i].n;
    }
    return sum;
}

/* Chooses the ways within the shortest time that suffices for all. */
static void find_time(const struct race *r)
{
    double low = 1, units = 0;
    for (uint32_t i = 0; i < r->s->active; i++)
        low = fmax(low, best_way(r->s, &r->s->tasks[r->k[i].task], 0).time);
    for (unsigned p = 0; p < r->s->pools; p++)
        units += (double)r->s->size[p];
    double high = fmax(low, choose_ways(r, low) / units);
    while (high - low > 0.01 * low) {
        double middle = (low + high) / 2;
        *(choose_ways(r, middle) <= middle * units ? &high : &low) = middle;
    }
    choose_ways(r, high);
}

/* Grants n units of the pool with room in which the task is fastest; of equal ones its own. */
static bool grant_fastest(const struct race *r, struct budget *b, uint32_t task, units_t n)
{
    const struct task *t = &r->s->tasks[task];
    uint32_t tried = 0;
    for (unsigned round = 0; round < r->s->pools; round++) {
        unsigned best = POOLS_MAX;
        double top = 0;
        for (unsigned p = 0; p < r->s->pools; p++) {
            double speed = tried >> p & 1 || most_in(r->s, t, p) < n || b->free[p] < n
                               ? 0
                               : speed_at(job_speed(t->job, p), n);
            bool own = task_running(t) && t->pool == p;
            if (speed > top || (own && speed > 0 && speed >= top)) {
                top = speed;
                best = p;
            }
        }
        if (best == POOLS_MAX)
            return false;
        if (budget_grant_in(b, r->plan, task, best, n))
            return true;
        tried |= 1U << best;
    }
    return false;
}

/* Grants each task its size or, if that is not left, the smallest; then more, in the same order. */
static void serve(const struct race *r)
{
    struct budget b;
    uint32_t n = r->s->active, last = TASK_NONE;
    budget_init(&b, r->s, r->plan->arena);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t task = r->k[i].task;
        units_t want = r->ways[r->k[i].id].n, least = task_min(&r->s->tasks[task]);
        if ((want && grant_fastest(r, &b, task, want)) || grant_fastest(r, &b, task, least))
            last = task;
        else
            plan_deny(r->plan, task, WHY_ORDER, last);
    }
    for (bool any = true; any && budget_most(&b);) {
        any = false;
        for (uint32_t i = 0; i < n; i++) {
            struct grant *g = plan_grant(r->plan, r->k[i].task);
            const struct task *t = &r->s->tasks[r->k[i].task];
            units_t next = g && g->n ? task_next(t, g->pool, g->n) : 0;
            if (!next || !budget_grow(&b, r->k[i].task, g->pool, g->n, next))
                continue;
            g->n = next;
            any = true;
        }
    }
}

static void allocate_makespan(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct race r = {.s = s, .plan = plan, .k = order_collect(s, plan->arena)};
    if (!s->active)
        return;
    r.ways = ARENA_ARRAY(plan->arena, s->active, struct way);
    if (order_sort(r.k, s->active, plan->arena))
        order_publish(r.k, s->active, plan);
    find_time(&r);
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[r.k[i].task];
        double lead = task_running(t) ? (double)job_resume_cost(t->job) : 0;
        /* A moldable task that got more than its way needs less time since: it would be stopped
         * for one that it came before, and started again in its place. */
        bool settled = task_running(t) && t->job->kind == JOB_MOLDABLE;
        bool first = settled || task_is_paying(t, s->now);
        r.k[i].key = first ? -INFINITY : -(r.ways[i].time + lead);
        r.k[i].id = i;
    }
    order_sort(r.k, s->active, plan->arena);
    serve(&r);
    plan_wake(plan, s->now + param_usec(p, ROUND));
}

static const struct param params[] = {
    [ROUND] = {"round", PARAM_DURATION, "6m", 1, 86400, NULL,
               "time after which the jobs are looked at again"},
    {0},
};

const struct policy policy_makespan = {
    .axis = AXIS_ALLOCATE,
    .name = "makespan",
    .summary = "all jobs done as early as possible: the longest first",
    .rule =
        "T is the shortest time in which the work that is left could be done, if each job takes, "
        "of the sizes and GPU types with which it is done within T, the one with the least units x "
        "time. Jobs are served by the time that they need so, the longest first. Each gets that "
        "size, on the type on which it is fastest among those with room; what is left goes to the "
        "same jobs in the same order, one size at a time.\n\n"
        "Jobs are looked at again every `round`, as the time left of jobs that wait becomes the "
        "longest. A running job goes before one that needs longer by less than a restart costs, "
        "and is not stopped before it has trained for ten times that. A running job whose size can "
        "no longer be chosen is not stopped.",
    .source = "longest remaining processing time first; Turek, Wolf, Yu (SPAA'92)",
    .params = params,
    .weighs_sizes = true,
    .decide = allocate_makespan,
};
