/* hesrpt: shortest remaining processing time first, for jobs that divide the units among them.
 *
 * The jobs are sorted by remaining work, largest first. Job i of m weighs
 *
 *   w_i = (i^c - (i-1)^c)^(1/c),  c = 1/(1-p)
 *
 * and units are given where the sum of w_i x S_i(n_i) grows most per unit, along the concave
 * hulls of the curves. If all curves are k^p, units can be divided and all jobs are there, the
 * mean completion time is the smallest possible: the shares are then (i/m)^c - ((i-1)/m)^c.
 * With p near 1 this is shortest remaining time first, with p near 0 equal shares.
 *
 * A change stops a running job for a while: its speed then counts for less, by the part of the
 * time until its end that it stands still, or 1/payback if that is more. So a change must bring
 * more than that, and a job that is nearly done is left alone. A job that has to be restarted
 * has that much more work left.
 *
 * With several GPU types the speed and the work left of a job are counted in its mean speed on one
 * unit of the cluster. Prices divide the types among the jobs so that the same sum is large
 * (prices.c); a move to another type costs what the job's moves cost. Then tasks of equal size
 * exchange their types where that makes the sum larger (exchange.c).
 *
 * Source: Berg, Vesilo, Harchol-Balter, "heSRPT: Parallel scheduling to minimize mean slowdown"
 * (Performance 2020), whose jobs have one curve k^p. Deviations: each job has its own curve, p
 * is the mean exponent of these curves at an equal share, sizes are whole units, there are several
 * types of them, and changes have a cost. */
#include <math.h>

#include "policy/allocate/exchange.h"
#include "policy/allocate/prices.h"
#include "policy/bids.h"
#include "policy/budget.h"
#include "policy/order.h"
#include "policy/policies.h"

enum { EXPONENT, PAYBACK };

struct contender {
    uint32_t task;
    double weight;
    double left; /* one-unit microseconds */
    double unit; /* its mean speed on one unit of the cluster, by which its speeds are divided */
};

struct auction {
    const struct snapshot *s;
    struct plan *plan;
    struct budget *b;
    double payback;
};

/* A size that a contender bids for, and what it brings per unit. */
struct offer {
    units_t to; /* 0 = none */
    unsigned pool;
    double gain;
};

/* Remaining work. A task that must be restarted first has that much more. */
static double work_left(const struct task *t, usec_t now)
{
    bool restarts = !task_running(t) && t->starts;
    return task_remaining(t, now) + (restarts ? (double)job_resume_cost(t->job) : 0);
}

/* The mean speed on one unit over all that the task may use. */
static double unit_speed(const struct snapshot *s, const struct task *t)
{
    double sum = 0, units = 0;
    for (unsigned p = 0; p < s->pools; p++) {
        const struct speed *speed = job_speed(t->job, p);
        units_t n = t->pools >> p & 1 ? speed_floor(speed, task_min(t)) : 0;
        if (!n)
            continue;
        sum += speed_at(speed, n) / (double)n * UNIT * (double)s->size[p];
        units += (double)s->size[p];
    }
    return sum > 0 ? sum / units : 1;
}

/* What the contender is worth with n units of the pool. */
static double value_of(const struct auction *a, const struct contender *c, unsigned pool, units_t n)
{
    const struct task *t = &a->s->tasks[c->task];
    double speed = speed_at(job_speed(t->job, pool), n);
    usec_t resize = t->n != n ? t->job->cost.resize : 0;
    usec_t move = t->pool != pool ? t->job->cost.move : 0;
    double cost = task_running(t) ? (double)(move > resize ? move : resize) : 0;
    if (cost <= 0 || !(speed > 0))
        return c->weight * speed / c->unit;
    double span = fmin(c->left / speed + cost, a->payback * cost);
    return c->weight * speed / c->unit * (1 - cost / span);
}

/* The next size that may be the best step. On a concave curve that is the first, or the size
 * that the task has, as only that costs nothing. */
static units_t next_candidate(const struct task *t, unsigned pool, units_t n)
{
    const struct speed *speed = job_speed(t->job, pool);
    if (speed->at && !speed->concave)
        return task_next(t, pool, n);
    bool here = task_running(t) && t->pool == pool;
    return here && t->n > n && t->n <= task_max(t) ? t->n : 0;
}

/* The best step in one pool from what the plan grants the contender. */
static struct offer offer_in(const struct auction *a, const struct contender *c, unsigned pool)
{
    const struct task *t = &a->s->tasks[c->task];
    units_t from = plan_units(a->plan, c->task);
    units_t room = from ? budget_room(a->b, c->task, pool, from) : a->b->free[pool];
    units_t next = from ? task_next(t, pool, from) : task_min(t);
    double now = from ? value_of(a, c, pool, from) : 0;
    struct offer best = {0};
    for (; next && next <= from + room; next = next_candidate(t, pool, next)) {
        double gain = (value_of(a, c, pool, next) - now) * UNIT / (double)(next - from);
        if (gain > best.gain * (1 + 1e-12)) /* of equal steps the smallest */
            best = (struct offer){next, pool, gain};
    }
    return best;
}

/* A task that has no units in this plan yet bids in all pools in which it may be served. */
static struct offer best_offer(const struct auction *a, const struct contender *c)
{
    const struct task *t = &a->s->tasks[c->task];
    const struct grant *g = plan_grant(a->plan, c->task);
    struct offer best = {0};
    if (g && g->n)
        return offer_in(a, c, g->pool);
    for (unsigned p = 0; p < a->s->pools; p++) {
        struct offer o = task_may_use(t, p) ? offer_in(a, c, p) : (struct offer){0};
        bool stays = task_running(t) && t->pool == p; /* of equal offers */
        best = o.gain > best.gain || (stays && o.gain == best.gain) ? o : best;
    }
    return best;
}

/* False if the units cannot be taken: they are not on one node, or memory is missing. */
static bool take_offer(struct auction *a, const struct contender *c, const struct offer *o)
{
    struct grant *g = plan_grant(a->plan, c->task);
    units_t least = task_min(&a->s->tasks[c->task]);
    if (!g || !g->n)
        return budget_grant_in(a->b, a->plan, c->task, o->pool, o->to) ||
               (o->to > least && budget_grant_in(a->b, a->plan, c->task, o->pool, least));
    if (!budget_grow(a->b, c->task, g->pool, g->n, o->to))
        return false;
    g->n = o->to;
    return true;
}

/* Offers the contender all sizes in the pools in which it may be served. */
static void offer_all(const struct auction *a, const struct contender *c, struct prices *prices)
{
    const struct task *t = &a->s->tasks[c->task];
    prices_begin(prices);
    for (unsigned p = 0; p < a->s->pools; p++) {
        units_t most = task_may_use(t, p) ? a->b->free[p] : 0;
        const struct speed *speed = job_speed(t->job, p);
        for (units_t n = task_min(t); n && n <= most; n = task_next(t, p, n))
            if (speed_floor(speed, n) == n)
                prices_offer(prices, p, n, value_of(a, c, p, n));
    }
}

/* With several GPU types, the first unit that a contender takes would decide on its type. So prices
 * divide the types among all contenders first. */
static void divide_pools(struct auction *a, const struct contender *c, uint32_t n)
{
    struct prices prices;
    prices_init(&prices, a->b->free, a->s->pools, n, a->plan->arena);
    for (uint32_t i = 0; i < n; i++)
        offer_all(a, &c[i], &prices);
    prices_solve(&prices);
    for (uint32_t i = 0; i < n; i++) {
        const struct price_option *o = prices_choice(&prices, i);
        if (o)
            budget_grant_in(a->b, a->plan, c[i].task, o->pool, o->n);
    }
}

static void deny_rest(const struct auction *a, const struct contender *c)
{
    const struct grant *g = plan_grant(a->plan, c->task);
    bool grows = g && g->n && task_next(&a->s->tasks[c->task], g->pool, g->n);
    enum why why = !g || !g->n ? WHY_ORDER : grows ? WHY_NO_ROOM : WHY_BALANCED;
    plan_deny(a->plan, c->task, why, TASK_NONE);
}

/* Units go to the highest bid until nobody bids. A bid is only checked when it is the highest:
 * less may be left by then, or the bidder may have grown, and it bids again. */
static void run_auction(struct auction *a, const struct contender *c, uint32_t n)
{
    struct bids bids;
    bids_init(&bids, n, a->plan->arena);
    for (uint32_t i = 0; i < n; i++) {
        struct offer o = best_offer(a, &c[i]);
        if (o.to)
            bids_push(&bids, o.gain, i);
        else
            deny_rest(a, &c[i]);
    }
    while (bids.n && (a->plan->why || budget_most(a->b))) {
        struct bid top = bids_top(&bids);
        struct offer o = best_offer(a, &c[top.at]);
        if (o.to && o.gain < top.key) {
            bids_replace(&bids, o.gain);
        } else if (!o.to || !take_offer(a, &c[top.at], &o)) {
            deny_rest(a, &c[top.at]);
            bids_pop(&bids);
        }
    }
}

/* Of several GPU types the highest bid takes the best, although another may gain more from it. */
struct traders {
    const struct auction *a;
    const struct contender *c;
};

static double worth(const void *ctx, uint32_t i, unsigned pool, units_t n)
{
    const struct traders *t = ctx;
    const struct speed *speed = job_speed(t->a->s->tasks[t->c[i].task].job, pool);
    return speed_floor(speed, n) == n ? value_of(t->a, &t->c[i], pool, n) : 0;
}

static void trade_pools(const struct auction *a, const struct contender *c, uint32_t n)
{
    struct traders traders = {a, c};
    uint32_t *tasks = ARENA_ARRAY(a->plan->arena, n, uint32_t);
    for (uint32_t i = 0; i < n; i++)
        tasks[i] = c[i].task;
    exchange_pools(a->s, a->plan, tasks, n, worth, &traders);
}

/* The p for which the task's curve is proportional to k^p at its share of all units that it may
 * use; NAN if it has one size only. */
static double exponent_of(const struct snapshot *s, const struct task *t, uint32_t rivals)
{
    const struct speed *speed = job_speed(t->job, budget_pool(s, t));
    double units = 0;
    for (unsigned p = 0; p < s->pools; p++)
        units += t->pools >> p & 1 ? (double)s->size[p] / UNIT : 0;
    double share = ceil(units / rivals);
    units_t k = (units_t)(share > 2 ? share : 2) * UNIT;
    k = k < task_max(t) ? k : task_max(t);
    return k > UNIT && task_min(t) < task_max(t)
               ? log(speed_at(speed, k) / speed_at(speed, UNIT)) / log((double)k / UNIT)
               : NAN;
}

/* The mean over the contenders, within bounds for which c is finite. */
static double fit_exponent(const struct snapshot *s, const struct contender *c, uint32_t n)
{
    const double least = 0.05, most = 0.95;
    double sum = 0;
    uint32_t counted = 0;
    for (uint32_t i = 0; i < n; i++) {
        double p = exponent_of(s, &s->tasks[c[i].task], n);
        if (isfinite(p)) {
            sum += p;
            counted++;
        }
    }
    return counted ? fmin(fmax(sum / counted, least), most) : most;
}

/* Weighs contenders that are sorted by remaining work, smallest first. */
static void weigh(const struct snapshot *s, struct contender *c, uint32_t n, double p)
{
    double e = 1 / (1 - p);
    for (uint32_t i = 0; i < n; i++) {
        double rank = (double)(n - i) / n, after = (double)(n - i - 1) / n;
        c[i].weight = s->tasks[c[i].task].job->weight * pow(pow(rank, e) - pow(after, e), 1 / e);
    }
}

static void allocate_hesrpt(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct keyed *k = order_collect(s, plan->arena);
    struct contender *c = ARENA_ARRAY(plan->arena, s->active, struct contender);
    struct budget b;
    struct auction a = {s, plan, &b, p->v[PAYBACK].number};
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        k[i].key = work_left(t, s->now) / unit_speed(s, t);
    }
    order_sort(k, s->active, plan->arena);
    order_publish(k, s->active, plan);
    budget_init(&b, s, plan->arena);
    /* Each class in turn, with what those before it leave. */
    for (uint32_t i = 0, n; i < s->active; i += n) {
        for (n = 0; i + n < s->active && k[i + n].rank == k[i].rank; n++) {
            const struct task *t = &s->tasks[k[i + n].task];
            c[n] = (struct contender){
                .task = k[i + n].task, .left = work_left(t, s->now), .unit = unit_speed(s, t)};
        }
        double given = p->v[EXPONENT].number;
        weigh(s, c, n, given > 0 ? given : fit_exponent(s, c, n));
        if (s->pools > POOL_GPU + 1)
            divide_pools(&a, c, n);
        run_auction(&a, c, n);
        trade_pools(&a, c, n);
    }
}

static const struct param params[] = {
    [EXPONENT] = {"p", PARAM_NUMBER, "0", 0, 0.99, NULL,
                  "exponent of the speed curves k^p; 0 = the mean of the jobs' own curves"},
    [PAYBACK] = {"payback", PARAM_NUMBER, "10", 1, 1000, NULL,
                 "a change of size counts as lasting at most this many times its cost"},
    {0},
};

const struct policy policy_hesrpt = {
    .axis = AXIS_ALLOCATE,
    .name = "hesrpt",
    .summary = "jobs with less work left get more weight; the largest weighted speed",
    .rule =
        "The jobs are sorted by remaining work, largest first. Job i of m weighs (i^c - (i-1)^c)^"
        "(1/c) with c = 1/(1-p), and units are given where the sum of weight x speed grows most "
        "per unit. If all speed curves are k^p, no policy has a smaller mean completion time.\n\n"
        "The speed of a job whose size changes counts for less, by the share of the time until its "
        "end for which it stops, and by at least 1/payback.\n\n"
        "With several GPU types the speed and the work left of a job are counted in its mean speed "
        "on one unit of the cluster, and prices divide the types among the jobs so that the same "
        "sum is large. Then jobs of equal size exchange their types where that makes it larger.",
    .source = "Berg, Vesilo, Harchol-Balter, heSRPT (Performance 2020)",
    .params = params,
    .weighs_costs = true,
    .weighs_sizes = true,
    .decide = allocate_hesrpt,
};
