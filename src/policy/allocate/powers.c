/* Owns what Pollux and Sia have in common. The sum of the jobs' values is made large by prices
 * (prices.h), where Pollux has a genetic algorithm and Sia an integer program. */
#include "policy/allocate/powers.h"

#include <math.h>

#include "policy/budget.h"
#include "policy/order.h"

/* Of jobs that are worth the same, or nearly, one that runs stays: two that need the same units
 * would otherwise stop each other in every round. */
#define STAY 0.999

struct contest {
    const struct powers *rule;
    const struct snapshot *s;
    struct plan *plan;
    struct budget *b;
    units_t per_node[POOLS_MAX]; /* units of the largest node of each pool */
    uint32_t rivals;
};

static void measure_nodes(struct contest *c)
{
    const struct cluster *cluster = c->s->cluster;
    for (uint32_t i = 0; i < cluster->n; i++)
        for (unsigned p = 0; p < c->s->pools; p++) {
            units_t size = node_size(&cluster->nodes[i], p);
            c->per_node[p] = size > c->per_node[p] ? size : c->per_node[p];
        }
}

/* Whether the task may have n units of the pool: its smallest size, the one that it has, or one of
 * the rule's. */
static bool size_is_offered(const struct contest *c, const struct task *t, unsigned pool, units_t n)
{
    units_t whole = n / UNIT, node = c->per_node[pool];
    bool has = task_running(t) && t->pool == pool && t->n == n;
    if (!c->rule->node_sizes || n == task_min(t) || has)
        return true;
    if (n % UNIT || node <= 0)
        return false;
    return n <= node ? !(whole & (whole - 1)) || n == node : n % node == 0;
}

/* The most units of the pool that the task could get. */
static units_t most_units(const struct contest *c, const struct task *t, unsigned pool)
{
    const struct job *j = t->job;
    bool anywhere =
        !j->whole && !j->worker && !j->memory_mb && !j->cpus && !devices_any(&j->devices);
    units_t free = c->b->free[pool];
    units_t most = anywhere ? free : cluster_most(c->s->cluster, j, pool, true);
    return most < free ? most : free;
}

/* The smallest size that is offered above n, and on which the task runs; 0 = none. */
static units_t next_size(const struct contest *c, const struct task *t, unsigned pool, units_t n,
                         units_t most)
{
    const struct speed *speed = job_speed(t->job, pool);
    units_t next = n ? task_next(t, pool, n) : task_min(t);
    while (next && !(speed_at(speed, next) > 0 && size_is_offered(c, t, pool, next)))
        next = task_next(t, pool, next);
    return next <= most ? next : 0;
}

/* The slowest of all sizes that are offered. */
static double slowest(const struct contest *c, const struct task *t)
{
    double least = INFINITY;
    for (unsigned p = 0; p < c->s->pools; p++) {
        units_t n = task_may_use(t, p) ? next_size(c, t, p, 0, most_units(c, t, p)) : 0;
        if (n)
            least = fmin(least, speed_at(job_speed(t->job, p), n));
    }
    return least;
}

/* The speed with an equal share of all units that the task may use. */
static double fair_speed(const struct contest *c, const struct task *t)
{
    double sum = 0, units = 0;
    for (unsigned p = 0; p < c->s->pools; p++) {
        if (!task_may_use(t, p))
            continue;
        units_t whole = (c->s->size[p] + c->rivals * UNIT - 1) / (c->rivals * UNIT);
        units_t n = whole * UNIT < task_max(t) ? whole * UNIT : task_max(t);
        n = n > task_min(t) ? n : task_min(t);
        sum += speed_at(job_speed(t->job, p), n) * (double)c->s->size[p];
        units += (double)c->s->size[p];
    }
    return units > 0 ? sum / units : 0;
}

/* The share of its life for which the task would not have stood still after one more change. */
static double change_factor(const struct task *t, usec_t now)
{
    double age = (double)(now - t->submit), cost = (double)job_resume_cost(t->job);
    double lost = t->changes ? (t->changes - 1) * cost : 0;
    return !task_running(t) || age < cost ? 1 : fmax(age - lost, 0) / (age + cost);
}

/* Whether a paused task finds the units on its nodes free that it left there. It waits for them:
 * two tasks that are worth the same would otherwise take them from each other in every round. */
static bool can_resume(const struct contest *c, const struct task *t)
{
    for (uint32_t i = 0; t->phase == TASK_PAUSED && i < t->at.n; i++) {
        const struct node *n = &c->s->cluster->nodes[t->at.at[i].node];
        if (node_size(n, t->pool) - node_held(n, t->pool) < t->at.at[i].units)
            return false;
    }
    return true;
}

static void offer_sizes(const struct contest *c, const struct task *t, struct prices *prices)
{
    double base = c->rule->fair_base ? fair_speed(c, t) : slowest(c, t);
    double factor = change_factor(t, c->s->now);
    prices_begin(prices);
    for (unsigned p = 0; p < c->s->pools && can_resume(c, t); p++) {
        if (!task_may_use(t, p))
            continue;
        units_t most = most_units(c, t, p);
        for (units_t n = next_size(c, t, p, 0, most); n; n = next_size(c, t, p, n, most)) {
            bool same = task_running(t) && t->pool == p && t->n == n;
            double r = speed_at(job_speed(t->job, p), n) / base * (same ? 1 : factor);
            double power = pow(c->rule->scale * r + c->rule->offset, c->rule->exponent);
            double value = c->rule->none - (same ? STAY * power : power);
            prices_offer(prices, p, n, t->job->weight * value);
        }
    }
}

/* Grants tasks that must not be changed what they hold. */
static bool keep_settling(const struct contest *c, uint32_t task)
{
    const struct task *t = &c->s->tasks[task];
    bool settling = c->rule->settles && task_running(t) && t->ready_at > c->s->now;
    return settling && task_keeps_size(t) && budget_grant_in(c->b, c->plan, task, t->pool, t->n);
}

/* If it does not find its size on the nodes, a task may still find its smallest. */
static void grant_choice(const struct contest *c, uint32_t task, const struct price_option *o)
{
    units_t least = task_min(&c->s->tasks[task]);
    if (!o)
        plan_deny(c->plan, task, WHY_ORDER, TASK_NONE);
    else if (budget_grant_in(c->b, c->plan, task, o->pool, o->n) ||
             (o->n > least && budget_grant_in(c->b, c->plan, task, o->pool, least)))
        plan_deny(c->plan, task, WHY_BALANCED, TASK_NONE);
}

/* Offers all sizes to these tasks, and divides what is left. */
static void divide(const struct contest *c, const uint32_t *tasks, uint32_t n, struct arena *a,
                   struct prices *out)
{
    prices_init(out, c->b->free, c->s->pools, n, a);
    for (uint32_t i = 0; i < n; i++)
        offer_sizes(c, &c->s->tasks[tasks[i]], out);
    prices_solve(out);
}

static bool has_size(const struct task *t, const struct price_option *o)
{
    return o && task_running(t) && t->pool == o->pool && t->n == o->n;
}

/* Grants what is left to tasks of one class. */
static void serve_class(struct contest *c, const struct keyed *k, uint32_t n)
{
    struct prices prices;
    uint32_t *tasks = ARENA_ARRAY(c->plan->arena, n, uint32_t), left = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!keep_settling(c, k[i].task))
            tasks[left++] = k[i].task;
    divide(c, tasks, left, c->plan->arena, &prices);
    /* Prices do not know nodes. Where not everything can be placed, tasks that stay as they are go
     * first; otherwise two that do not fit beside each other would take turns forever. */
    for (int stays = 1; stays >= 0; stays--)
        for (uint32_t i = 0; i < left; i++) {
            const struct price_option *o = prices_choice(&prices, i);
            if (stays == has_size(&c->s->tasks[tasks[i]], o))
                grant_choice(c, tasks[i], o);
        }
}

void powers_problem(const struct powers *rule, const struct snapshot *s, struct arena *a,
                    struct prices *out)
{
    struct budget b;
    struct contest c = {.rule = rule, .s = s, .b = &b, .rivals = s->active};
    uint32_t *tasks = ARENA_ARRAY(a, s->active, uint32_t), n = 0;
    budget_init(&b, s, a);
    measure_nodes(&c);
    SNAPSHOT_EACH (s, i)
        tasks[n++] = i;
    divide(&c, tasks, n, a, out);
}

void powers_allocate(const struct powers *rule, const struct snapshot *s, struct plan *plan)
{
    struct keyed *k = order_collect(s, plan->arena);
    struct budget b;
    struct contest c = {.rule = rule, .s = s, .plan = plan, .b = &b, .rivals = s->active};
    if (order_sort(k, s->active, plan->arena))
        order_publish(k, s->active, plan);
    budget_init(&b, s, plan->arena);
    measure_nodes(&c);
    for (uint32_t i = 0, n; i < s->active; i += n) {
        for (n = 1; i + n < s->active && k[i + n].rank == k[i].rank;)
            n++;
        serve_class(&c, &k[i], n);
    }
}
