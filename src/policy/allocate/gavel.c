/* gavel: each job has a share of the time on GPUs of each type, and rounds give it that share.
 *
 * The shares are those with the best value of the objective, all jobs at the sizes that they
 * request (timeshare.c):
 *
 * - fair: the largest minimum of speed x units / (weight x speed with equal shares of all types);
 * - las: the same for jobs that are taken to be as fast on one type as on another;
 * - finish: the smallest maximum of the completion time over that on 1/m of the cluster alone,
 *   as in Themis;
 * - makespan: the earliest time by which all jobs can be done;
 * - cost: the largest sum of speed over price.
 *
 * In each round the types are served in turn, the fastest first (las: in random order), and on
 * each the jobs by their share there over the time that they have had there. A job that goes to
 * another type is moved. Between rounds running jobs stay, and waiting ones get what is free. A job
 * is not stopped or moved before it has trained for ten times what that costs. After `renew` the
 * accounts of time begin again.
 *
 * Source: Narayanan et al., "Heterogeneity-aware cluster scheduling policies for deep learning
 * workloads" (OSDI'20), sections 3 to 5, and its code; Mahajan et al., "Themis" (NSDI'20).
 * Deviations: shares are computed in each round. Under --rules gavel only when jobs have come or
 * gone and `renew` has passed, and accounts begin again with them, as in Gavel's simulator; a job
 * without shares then takes its turn, but its units stay unused.
 *
 * Memo (task): pool[0] = its shares, pool[1] = seconds that it has had; of `finish` d[0] = its time
 * alone until now, d[1] = work left at the last round, d[2] = its speed alone then.
 * Memo (all): i[0..2] = 1 + when accounts began, when the last round did, when shares were
 * computed; i[3] = last decision. */
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "policy/allocate/gavel_shares.h"
#include "policy/budget.h"
#include "policy/policies.h"

enum { OBJECTIVE, ROUND, RENEW, PRICES };

struct rotation {
    const struct snapshot *s;
    const struct params *p;
    struct plan *plan;
    unsigned pools;
    struct keyed *k;   /* the active tasks */
    struct memo *memo; /* theirs, by index in k like all that follows */
    double *rate;      /* [task x pools + pool] */
    /* Under Gavel's rules: it has no shares yet, and when its turn comes its units stay unused. */
    bool *barred;
    bool begins; /* a round */
};

/* Whether a running task stays as it is: between rounds, and until it has trained for ten times
 * what a restart or a move costs. */
static bool is_kept(const struct rotation *r, const struct task *t)
{
    return task_running(t) && (!r->begins || task_is_paying(t, r->s->now));
}

/* How fast the task is in the pool, 0 if it is not offered there. */
static double rate_in(const struct rotation *r, const struct task *t, unsigned pool)
{
    const struct speed *speed = job_speed(t->job, pool);
    units_t n = task_asked(t);
    if (!task_may_use(t, pool) || r->s->size[pool] < n || (is_kept(r, t) && t->pool != pool))
        return 0;
    return n == t->job->min || speed_floor(speed, n) == n ? speed_at(speed, n) : 0;
}

static void collect_tasks(struct rotation *r)
{
    struct arena *a = r->plan->arena;
    uint32_t n = r->s->active;
    r->pools = r->s->pools;
    r->k = order_collect(r->s, a);
    if (order_sort(r->k, n, a))
        order_publish(r->k, n, r->plan);
    r->memo = ARENA_ARRAY(a, n, struct memo);
    r->barred = ARENA_ARRAY(a, n, bool);
    r->rate = ARENA_ARRAY(a, (size_t)n * r->pools, double);
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &r->s->tasks[r->k[i].task];
        r->memo[i] = t->memo[AXIS_ALLOCATE];
        for (unsigned p = 0; p < r->pools; p++)
            r->rate[(size_t)i * r->pools + p] = rate_in(r, t, p);
    }
}

/* Books the time that running tasks have had since the last decision; `renew` = all begin again,
 * with half a round. */
static void book_time(struct rotation *r, const struct memo *all, bool renew)
{
    float begin = (float)(r->p->v[ROUND].number / 2 / USEC_PER_SEC);
    float had = (float)(r->s->now - all->i[3]) / USEC_PER_SEC;
    for (uint32_t i = 0; i < r->s->active; i++) {
        const struct task *t = &r->s->tasks[r->k[i].task];
        float *pool = r->memo[i].pool[1];
        bool fresh = renew || pool[0] == 0;
        for (unsigned p = 0; fresh && p < r->pools; p++)
            pool[p] = begin;
        if (task_running(t) && !fresh)
            pool[t->pool] += had;
    }
}

static bool is_renewed(const struct rotation *r, const struct memo *all)
{
    usec_t since = all->i[0] - 1, arrival = r->s->last_arrival, departure = r->s->last_departure;
    bool over = !all->i[0] || r->s->now - since >= param_usec(r->p, RENEW);
    if (r->s->rules != RULES_GAVEL)
        return over;
    return (over || since == 0) && (arrival > departure ? arrival : departure) > all->i[2] - 1;
}

static void divide_time(struct rotation *r)
{
    const struct param_value *list = &r->p->v[PRICES];
    double price[POOLS_MAX];
    for (unsigned p = 0; p < r->pools; p++)
        price[p] = p >= POOL_GPU && p - POOL_GPU < list->n ? list->list[p - POOL_GPU] : 1;
    struct gavel_shares g = {.s = r->s,
                             .arena = r->plan->arena,
                             .objective = (enum gavel_objective)r->p->v[OBJECTIVE].number,
                             .price = price,
                             .k = r->k,
                             .rate = r->rate,
                             .memo = r->memo};
    gavel_divide(&g);
}

static bool has_shares(const struct rotation *r, uint32_t i)
{
    float sum = 0;
    for (unsigned p = 0; p < r->pools; p++)
        sum += r->memo[i].pool[0][p];
    return sum > 0;
}

/* The tasks that compete in the pool, by share over time; their id is their index. */
static uint32_t line_up(const struct rotation *r, unsigned pool, struct keyed *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->s->active; i++) {
        uint32_t task = r->k[i].task;
        const struct memo *m = &r->memo[i];
        if (plan_units(r->plan, task) || r->barred[i] ||
            !(r->rate[(size_t)i * r->pools + pool] > 0))
            continue;
        k[n] = r->k[i];
        k[n].key = is_kept(r, &r->s->tasks[task]) ? -INFINITY
                                                  : -(double)(m->pool[0][pool] / m->pool[1][pool]);
        k[n++].id = i;
    }
    order_sort(k, n, r->plan->arena);
    return n;
}

/* What it asks for, as far as its state allows: paused, it needs units on each of its nodes. */
static units_t size_of(const struct task *t)
{
    units_t asked = task_asked(t), least = task_min(t), most = task_max(t);
    return asked < least ? least : asked > most ? most : asked;
}

static void serve_pool(struct rotation *r, struct budget *b, unsigned pool)
{
    struct keyed *k = arena_raw(r->plan->arena, (r->s->active + 1) * sizeof *k);
    uint32_t n = line_up(r, pool, k), last = TASK_NONE;
    for (uint32_t i = 0; i < n && (b->free[pool] || r->s->shut || r->plan->why); i++) {
        uint32_t task = k[i].task;
        if (!budget_grant_in(b, r->plan, task, pool, size_of(&r->s->tasks[task]))) {
            plan_deny(r->plan, task, WHY_ORDER, last);
            continue;
        }
        last = task;
        if (r->s->rules == RULES_GAVEL && !has_shares(r, k[i].id)) {
            r->barred[k[i].id] = true;
            plan_give(r->plan, task, pool, 0);
        }
    }
}

/* The pools in the order in which they are served. */
static void order_pools(const struct rotation *r, unsigned *order)
{
    double speed[POOLS_MAX] = {0};
    for (unsigned p = 0; p < r->pools; p++) {
        for (uint32_t i = 0; i < r->s->active; i++)
            speed[p] += r->rate[(size_t)i * r->pools + p];
        if (r->p->v[OBJECTIVE].number == GAVEL_LAS)
            speed[p] = (double)rng_mix(rng_mix(r->s->seed + (uint64_t)r->s->now) + p);
        unsigned at = p;
        for (; at > 0 && speed[order[at - 1]] < speed[p]; at--)
            order[at] = order[at - 1];
        order[at] = p;
    }
}

static void allocate_gavel(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct memo all = s->memo[AXIS_ALLOCATE];
    struct rotation r = {.s = s, .p = p, .plan = plan};
    bool peer = s->rules == RULES_GAVEL;
    unsigned order[POOLS_MAX];
    struct budget b;
    if (!s->active)
        return;
    r.begins = peer || !all.i[1] || s->now - (all.i[1] - 1) >= param_usec(p, ROUND);
    collect_tasks(&r);
    bool renew = is_renewed(&r, &all);
    book_time(&r, &all, renew);
    if (peer ? renew : r.begins) {
        divide_time(&r);
        all.i[2] = 1 + s->now;
    }
    all.i[0] = renew ? 1 + s->now : all.i[0];
    all.i[1] = r.begins ? 1 + s->now : all.i[1];
    all.i[3] = s->now;
    budget_init(&b, s, plan->arena);
    order_pools(&r, order);
    for (unsigned i = 0; i < r.pools; i++)
        serve_pool(&r, &b, order[i]);
    for (uint32_t i = 0; i < s->active; i++)
        plan_remember(plan, AXIS_ALLOCATE, MEMO_TASK, r.k[i].task, &r.memo[i]);
    plan_remember(plan, AXIS_ALLOCATE, MEMO_ALL, 0, &all);
    plan_wake(plan, all.i[1] - 1 + param_usec(p, ROUND));
}

/* "30% of the time on v100, 20% on k80". */
static bool describe_gavel(const struct snapshot *s, const struct params *p, uint32_t task,
                           struct remark *out)
{
    const struct memo *m = &s->tasks[task].memo[AXIS_ALLOCATE];
    size_t n = 0;
    (void)p;
    for (unsigned pool = 0; pool < s->pools; pool++) {
        const char *type = pool ? s->cluster->gpu_types[pool - POOL_GPU] : "CPUs";
        double share = 100 * (double)m->pool[0][pool];
        if (share >= 0.5 && n < sizeof out->text)
            n += (size_t)snprintf(out->text + n, sizeof out->text - n, "%s%.0f%%%s on %s",
                                  n ? ", " : "Under gavel it should run for ", share,
                                  n ? "" : " of the time", type ? type : "GPUs");
    }
    if (n && n + 1 < sizeof out->text)
        snprintf(out->text + n, sizeof out->text - n, ".");
    return n > 0;
}

static const struct param params[] = {
    [OBJECTIVE] = {"objective", PARAM_CHOICE, "fair", 0, 0, "fair|las|finish|makespan|cost",
                   "what the shares of time are best for"},
    [ROUND] = {"round", PARAM_DURATION, "6m", 1, 86400, NULL, "time between two rounds"},
    [RENEW] = {"renew", PARAM_DURATION, "32m", 1, 864000, NULL,
               "time after which the accounts of time begin again"},
    [PRICES] = {"prices", PARAM_NUMBERS, "1", 0.001, 1e6, NULL,
                "of a GPU of each type, in the order of the types; 1 for types without one"},
    {0},
};

const struct policy policy_gavel = {
    .axis = AXIS_ALLOCATE,
    .name = "gavel",
    .summary = "shares of the time on each GPU type, given in rounds (Gavel)",
    .rule =
        "Each job has a share of the time on GPUs of each type, such that all shares together are "
        "best for the objective: fair, the largest minimum of speed x units over weight x speed "
        "with equal shares; las, the same without regard to speed; finish, the smallest maximum of "
        "completion time over that alone on an equal part of the cluster; makespan; or cost, the "
        "most speed for its price.\n\n"
        "In each round the types are served in turn, the fastest first, and on each the jobs by "
        "their share there over the time that they have had there. A job may be moved to another "
        "type. Between rounds running jobs stay, and waiting ones get what is free. No job is "
        "stopped or moved "
        "before it has trained for ten times what that costs.",
    .source = "Narayanan et al., Gavel (OSDI'20); Mahajan et al., Themis (NSDI'20)",
    .params = params,
    .weighs_costs = true,
    .decide = allocate_gavel,
    .describe = describe_gavel,
};
