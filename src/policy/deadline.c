/* deadline: as many deadlines as possible are met, and what is left makes
 * everybody faster. All is computed anew at every decision.
 *
 * 1. Need: the smallest size with which a job, alone, would end in time. A job
 *    without one is late, one without a deadline is best effort.
 * 2. Filling, by deadline: each job gets the smallest share per slot of time
 *    that ends it before its deadline in what earlier deadlines left. When there
 *    is none, of it and the admitted jobs that cost more units x time the
 *    dearest is given up for now (Moore and Hodgson's rule): it is at risk.
 * 3. Tightening: if any was given up, the admitted are filled again without
 *    them, and those at risk are tried in what is left, cheapest first.
 * 4. Units now: the admitted jobs' first slot; then jobs keep what they hold
 *    where it fits; then each job without units its minimum, cheapest first;
 *    then growth by the share of a unit that brings progress. A job that runs is
 *    resized only if it then ends sooner by more than two stops.
 * 5. Floor: late and best-effort jobs never starve. One of them, the one that
 *    has waited longest for what it costs, holds its minimum ahead of all; one
 *    that has waited `age` comes first and keeps it for a tenth of that.
 *
 * Source: the QoS-oriented autoscaling framework (seed of this project) and Gu
 * et al., ElasticFlow (ASPLOS'23): progressive filling and spare units by
 * marginal return. Deviations: admission is not sticky; a job that does not fit
 * is never dropped; costs of resizing are part of the plan; victims by cost.
 *
 * Memo (task): i[0] = until when it keeps the floor. */
#include <math.h>

#include "policy/budget.h"
#include "policy/forecast.h"
#include "policy/order.h"
#include "policy/policies.h"

enum { SLOT, AGE };
enum state { LATE, ADMITTED, AT_RISK };

/* Jobs that may be given up for one that does not fit. */
enum { TRIES = 4 };

struct candidate {
    struct demand d;
    enum state state;
    unsigned need;
    double cost; /* unit-microseconds of a met deadline */
    units_t out; /* units now */
    bool floor;
};

struct market {
    const struct snapshot *s;
    struct plan *plan;
    struct forecast forecast;
    struct candidate *at;
    uint32_t n;
    uint32_t *by_deadline, *by_cost; /* indices into at[] */
    uint32_t *heap;                  /* of admitted ones, dearest first */
    uint32_t nheap;
    units_t left;
};

static void give(struct market *m, struct candidate *c, units_t n)
{
    m->left -= n - c->out;
    c->out = n;
}

/* Sorted indices of all candidates by a key. */
static uint32_t *sorted(const struct market *m, double (*key)(const struct candidate *c))
{
    struct keyed *k = arena_raw(m->plan->arena, (m->n + 1) * sizeof *k);
    uint32_t *order = arena_raw(m->plan->arena, (m->n + 1) * sizeof *order);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct job *j = m->s->tasks[m->at[i].d.task].job;
        k[i] = (struct keyed){-(int64_t)j->priority, key(&m->at[i]), j->submit, j->id, i};
    }
    order_sort(k, m->n, m->plan->arena);
    for (uint32_t i = 0; i < m->n; i++)
        order[i] = k[i].task;
    return order;
}

static double key_deadline(const struct candidate *c)
{
    return c->d.deadline;
}

static double key_cost(const struct candidate *c)
{
    return c->cost;
}

static void classify(struct candidate *c, double weight)
{
    unsigned l = 0;
    while (l < c->d.sizes && !(demand_finish(&c->d, l) <= c->d.deadline))
        l++;
    bool can = l < c->d.sizes && isfinite(c->d.deadline);
    c->state = can ? AT_RISK : LATE;
    c->need = can ? l : 0;
    c->cost = (double)c->d.size[c->need] * demand_finish(&c->d, c->need) / weight;
}

/* Dearest first; equal ones by index, which is by submission. */
static bool dearer(const struct market *m, uint32_t a, uint32_t b)
{
    return m->at[a].cost != m->at[b].cost ? m->at[a].cost > m->at[b].cost : a > b;
}

static void heap_push(struct market *m, uint32_t x)
{
    uint32_t i = m->nheap++;
    for (; i && dearer(m, x, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = x;
}

static uint32_t heap_take(struct market *m)
{
    uint32_t top = m->heap[0], x = m->heap[--m->nheap], i = 0;
    for (uint32_t child; (child = 2 * i + 1) < m->nheap; i = child) {
        if (child + 1 < m->nheap && dearer(m, m->heap[child + 1], m->heap[child]))
            child++;
        if (!dearer(m, m->heap[child], x))
            break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = x;
    return top;
}

static bool admit(struct market *m, struct candidate *c)
{
    if (!forecast_place(&m->forecast, &c->d, c->need))
        return false;
    forecast_book(&m->forecast, &c->d, 1);
    c->state = ADMITTED;
    return true;
}

/* Admits c in the place of a dearer job, if that helps. */
static bool admit_instead(struct market *m, struct candidate *c)
{
    uint32_t tried[TRIES], n = 0;
    bool fits = false;
    while (!fits && n < TRIES && m->nheap && m->at[m->heap[0]].cost > c->cost) {
        uint32_t victim = heap_take(m);
        forecast_book(&m->forecast, &m->at[victim].d, -1);
        fits = admit(m, c);
        if (fits) {
            m->at[victim].state = AT_RISK;
        } else {
            forecast_book(&m->forecast, &m->at[victim].d, 1);
            tried[n++] = victim;
        }
    }
    while (n)
        heap_push(m, tried[--n]);
    return fits;
}

static void fill_by_deadline(struct market *m)
{
    bool given_up = false;
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_deadline[i]];
        if (c->state == LATE)
            continue;
        if (admit(m, c) || admit_instead(m, c))
            heap_push(m, m->by_deadline[i]);
        given_up = given_up || c->state == AT_RISK;
    }
    for (uint32_t i = 0; i < m->n; i++)
        given_up = given_up || m->at[i].state == AT_RISK;
    if (!given_up)
        return;
    forecast_clear(&m->forecast);
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_deadline[i]];
        if (c->state == ADMITTED && !admit(m, c))
            c->state = AT_RISK;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_cost[i]];
        if (c->state == AT_RISK)
            admit(m, c);
    }
}

/* Jobs that hold more than they are given keep it where it fits, the smallest
 * excess first. */
static double key_excess(const struct candidate *c)
{
    return (double)(c->d.held - c->out);
}

static void keep(struct market *m, bool admitted)
{
    const uint32_t *order = sorted(m, key_excess);
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[order[i]];
        if ((c->state == ADMITTED) == admitted && c->d.held > c->out &&
            c->d.held - c->out <= m->left)
            give(m, c, c->d.held);
    }
}

/* The level that a growing job goes to next; -1 = it does not grow. */
static int next_level(const struct candidate *c)
{
    const struct demand *d = &c->d;
    int now = demand_level(d, c->out), l = now + 1;
    if (c->out == d->held)
        while (l < d->sizes &&
               demand_finish(d, (unsigned)l) + d->resize >= demand_finish(d, (unsigned)now))
            l++;
    return l < d->sizes ? l : -1;
}

/* How much of an added unit becomes progress: 1 = all of it. */
static double growth_of(const struct candidate *c)
{
    const struct demand *d = &c->d;
    int now = demand_level(d, c->out), l = now + 1;
    if (now < 0 || l >= d->sizes)
        return 0;
    double more = (d->rate[l] - d->rate[now]) / (double)(d->size[l] - d->size[now]);
    return more / (d->rate[now] / (double)d->size[now]);
}

struct bid {
    double key;
    uint32_t at;
};

static void sift(struct bid *heap, uint32_t n, uint32_t i)
{
    struct bid x = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && (heap[child + 1].key > heap[child].key ||
                              (heap[child + 1].key == heap[child].key &&
                               heap[child + 1].at < heap[child].at)))
            child++;
        if (heap[child].key < x.key || (heap[child].key == x.key && heap[child].at > x.at))
            break;
        heap[i] = heap[child];
    }
    heap[i] = x;
}

static void grow(struct market *m)
{
    struct bid *heap = arena_raw(m->plan->arena, (m->n + 1) * sizeof *heap);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i].out && growth_of(&m->at[i]) > 0)
            heap[n++] = (struct bid){growth_of(&m->at[i]), i};
    for (uint32_t i = n / 2; i-- > 0;)
        sift(heap, n, i);
    while (n && m->left > 0) {
        struct candidate *c = &m->at[heap[0].at];
        int l = next_level(c);
        if (l >= 0 && c->d.size[l] - c->out <= m->left) {
            give(m, c, c->d.size[l]);
            heap[0].key = growth_of(c);
        } else {
            heap[0].key = 0;
        }
        if (!(heap[0].key > 0))
            heap[0] = heap[--n];
        if (n)
            sift(heap, n, 0);
    }
}

static void units_now(struct market *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_deadline[i]];
        if (c->state != ADMITTED || !c->d.level[0])
            continue;
        units_t n = c->d.size[c->d.level[0] - 1];
        int l = demand_level(&c->d, n < m->left ? n : m->left);
        if (l >= 0)
            give(m, c, c->d.size[l]);
    }
    keep(m, true);
    keep(m, false);
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_cost[i]];
        if (!c->out && c->d.size[0] <= m->left)
            give(m, c, c->d.size[0]);
    }
    grow(m);
}

/* Who holds the floor: those that keep it, else one that has waited too long,
 * else the late one with the largest wait for its cost. */
static void set_floor(struct market *m, usec_t age)
{
    struct candidate *best = NULL;
    double top = -1;
    usec_t now = m->s->now;
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[i];
        const struct task *t = &m->s->tasks[c->d.task];
        usec_t waited = task_running(t) ? 0 : now - t->queued_at;
        if (c->state != LATE)
            continue;
        double key = (double)(now - t->job->submit) / (c->cost + 1);
        if (t->memo[AXIS_ALLOCATE].i[0] > now && task_running(t))
            key = 3e18;
        else if (waited >= age)
            key = 1e18 + (double)waited;
        else if (!task_running(t))
            plan_wake(m->plan, t->queued_at + age);
        if (key > top) {
            top = key;
            best = c;
        }
    }
    if (!best || best->d.size[0] > m->left)
        return;
    best->floor = true;
    give(m, best, best->d.size[0]);
    if (top >= 1e18 && top < 3e18) {
        struct memo memo = {.i = {now + age / 10}};
        plan_remember(m->plan, AXIS_ALLOCATE, MEMO_TASK, best->d.task, &memo);
        plan_wake(m->plan, now + age / 10);
    }
}

/* The first slot in which an admitted job is planned above what it holds. */
static void set_wake(struct market *m)
{
    double wake = INFINITY;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct candidate *c = &m->at[i];
        for (uint32_t k = 1; c->state == ADMITTED && k <= c->d.last; k++) {
            if (m->forecast.edge[k] >= wake)
                break;
            if (c->d.level[k] && c->d.size[c->d.level[k] - 1] > c->out) {
                wake = m->forecast.edge[k];
                break;
            }
        }
    }
    if (wake < (double)USEC_LIMIT)
        plan_wake(m->plan, m->s->now + (usec_t)ceil(wake));
}

static unsigned pool_of(const struct task *t)
{
    return task_running(t) || t->job->pool != POOL_ANY_GPU ? t->pool : POOL_GPU;
}

static void collect(struct market *m, const uint32_t *order, unsigned pool, double *until)
{
    for (uint32_t i = 0; i < m->s->active; i++) {
        const struct task *t = &m->s->tasks[order[i]];
        if (pool_of(t) != pool)
            continue;
        struct candidate *c = &m->at[m->n++];
        *c = (struct candidate){0};
        demand_init(&c->d, m->s, order[i], pool, m->plan->arena);
        classify(c, t->job->weight);
        if (c->state != LATE && c->d.deadline > *until)
            *until = c->d.deadline;
    }
}

static void allocate_pool(const struct snapshot *s, const struct params *p, struct plan *plan,
                          const uint32_t *order, unsigned pool, struct budget *b)
{
    struct market m = {.s = s, .plan = plan, .left = s->size[pool]};
    double until = p->v[SLOT].number;
    m.at = arena_raw(plan->arena, (s->active + 1) * sizeof *m.at);
    m.heap = arena_raw(plan->arena, (s->active + 1) * sizeof *m.heap);
    collect(&m, order, pool, &until);
    if (m.n == 0)
        return;
    set_floor(&m, param_usec(p, AGE));
    forecast_init(&m.forecast, m.left, p->v[SLOT].number, until);
    for (uint32_t i = 0; i < m.n; i++)
        if (m.at[i].state != LATE)
            m.at[i].d.level =
                arena_raw(plan->arena, m.forecast.n * sizeof *m.at[i].d.level);
    m.by_deadline = sorted(&m, key_deadline);
    m.by_cost = sorted(&m, key_cost);
    fill_by_deadline(&m);
    units_now(&m);
    set_wake(&m);
    for (uint32_t i = 0; i < m.n; i++) {
        const struct candidate *c = &m.at[m.by_deadline[i]];
        if (!c->out || !budget_grant(b, plan, c->d.task, c->out))
            plan_deny(plan, c->d.task, WHY_NO_ROOM, TASK_NONE);
        if (c->state != ADMITTED && isfinite(c->d.deadline))
            plan_deny(plan, c->d.task, WHY_AT_RISK, TASK_NONE);
    }
}

static void allocate_deadline(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    const uint32_t *order = order_by_submit(s, plan);
    struct budget b;
    budget_init(&b, s, plan->arena);
    for (unsigned pool = 0; pool < s->pools; pool++)
        if (s->size[pool])
            allocate_pool(s, p, plan, order, pool, &b);
}

static const struct param params[] = {
    [SLOT] = {"slot", PARAM_DURATION, "60s", 1, 86400, NULL,
              "width of the first slots of the forecast"},
    [AGE] = {"age", PARAM_DURATION, "1h", 1, 1e9, NULL,
             "a job without a deadline, or past it, runs at least once in this time"},
    {0},
};

const struct policy policy_deadline = {
    .axis = AXIS_ALLOCATE,
    .name = "deadline",
    .summary = "as many deadlines as possible, the spare units where they bring most",
    .rule = "By deadline, each job gets the smallest share per slot of time that ends it in time "
            "given what earlier deadlines reserved, every resize on the way at its cost. When none "
            "exists, the dearest of it and the admitted jobs, in units x time, is given up for now "
            "and marked at risk: it runs best effort and is tried again at every decision.\n\n"
            "Spare units first let jobs keep what they hold, then start those that wait, cheapest "
            "first, then go where the most of a unit becomes progress; a running job is resized "
            "only if it ends sooner by more than the stops.\n\n"
            "Jobs without a deadline, or late, are best effort. One of them always holds its "
            "minimum; one that has waited age comes first.",
    .source = "A QoS-oriented scheduling and autoscaling framework for deep learning; Gu et al., "
              "ElasticFlow (ASPLOS'23)",
    .params = params,
    .weighs_costs = true,
    .decide = allocate_deadline,
};
