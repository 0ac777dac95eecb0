/* deadline: meets as many deadlines as possible, and spends the rest on speed. Everything is
 * computed again at every decision.
 *
 * 1. Need: the smallest size with which the job would end in time if it were alone. A job
 *    without such a size is late; a job without a deadline is best effort.
 * 2. Filling, by deadline: each job gets the smallest share per slot of time that ends it in
 *    time in what earlier deadlines have left. If there is none, the most expensive one of
 *    this job and the admitted ones, in units x time, is given up for now (Moore and
 *    Hodgson's rule): it is at risk.
 * 3. Tightening: if a job was given up, the admitted ones are filled again without it, and
 *    those at risk are tried in what is left, cheapest first.
 * 4. Units now: admitted jobs get their first slot; then jobs keep what they hold if it fits;
 *    then each job without units gets its minimum, cheapest first; then jobs grow where the
 *    largest part of a unit becomes progress. A running job is resized only if it then ends
 *    sooner by more than two stops.
 * 5. Floor: late and best-effort jobs never starve. One that has waited for `age` gets its
 *    minimum before all others, and keeps it for a tenth of that time. Before that, of what
 *    the admitted jobs leave, the job that has waited longest relative to its cost.
 *
 * Source: "A QoS-oriented scheduling and autoscaling framework for deep learning" (IJCNN
 * 2019), and Gu et al., ElasticFlow (ASPLOS'23): progressive filling, and spare units by
 * marginal return. Deviations: admission is not sticky; a job that does not fit is never
 * dropped; the costs of resizing are part of the plan; victims are chosen by cost.
 *
 * Memo (task): i[0] = until when it keeps the floor. */
#include <math.h>
#include <stdio.h>

#include "policy/allocate/admission.h"
#include "policy/bids.h"
#include "policy/budget.h"
#include "policy/order.h"
#include "policy/policies.h"

enum { SLOT, AGE };

/* A job that waited too long keeps the floor for this part of `age`, after its restart. */
enum { FLOOR_PART = 10 };

static double key_excess(const struct candidate *c)
{
    return (double)(c->demand.held - c->out);
}

/* Lets jobs keep what they hold beyond what they are given, if it fits, the smallest excess
 * first. */
static void keep(struct admission *m, bool admitted)
{
    const uint32_t *order = admission_sort(m, key_excess);
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[order[i]];
        units_t more = c->demand.held - c->out;
        if ((c->state == ADMISSION_ADMITTED) == admitted && more > 0 && more <= m->left)
            admission_give(m, c, c->demand.held);
    }
}

/* The size index that a growing job goes to next; -1 = it does not grow. A job that would be
 * resized must end sooner by more than this stop and the one that reverts it. */
static int next_level(const struct candidate *c)
{
    const struct demand *d = &c->demand;
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
    const struct demand *d = &c->demand;
    int now = demand_level(d, c->out), l = now + 1;
    if (now < 0 || l >= d->sizes)
        return 0;
    double more = (d->rate[l] - d->rate[now]) / (double)(d->size[l] - d->size[now]);
    return more / (d->rate[now] / (double)d->size[now]);
}

static void grow(struct admission *m)
{
    struct bids bids;
    bids_init(&bids, m->n, m->arena);
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i].out && growth_of(&m->at[i]) > 0)
            bids_push(&bids, growth_of(&m->at[i]), i);
    while (bids.n && m->left > 0) {
        struct candidate *c = &m->at[bids_top(&bids).at];
        int l = next_level(c);
        bool fits = l >= 0 && c->demand.size[l] - c->out <= m->left;
        if (fits)
            admission_give(m, c, c->demand.size[l]);
        if (fits && growth_of(c) > 0)
            bids_replace(&bids, growth_of(c));
        else
            bids_pop(&bids);
    }
}

static void give_units(struct admission *m, struct candidate *longest)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_deadline[i]];
        const struct demand *d = &c->demand;
        if (c->state != ADMISSION_ADMITTED || !d->level[0])
            continue;
        /* The first slot is booked on average, so its sum may be too large. A job that gets
         * less here starts when the next one ends. */
        units_t n = d->size[d->level[0] - 1];
        int l = demand_level(d, n < m->left ? n : m->left);
        if (l >= 0)
            admission_give(m, c, d->size[l]);
    }
    if (longest && longest->demand.size[0] <= m->left)
        admission_give(m, longest, longest->demand.size[0]);
    keep(m, true);
    keep(m, false);
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_cost[i]];
        if (!c->out && c->demand.size[0] <= m->left)
            admission_give(m, c, c->demand.size[0]);
    }
    grow(m);
}

/* A claim to the floor: of the job that still has it, of jobs that have waited too long, of
 * jobs by waiting time relative to cost. Within each kind larger keys come first. */
struct claim_to_floor {
    enum { CLAIM_NONE, CLAIM_RATIO, CLAIM_AGED, CLAIM_HELD } kind;
    double key;
};

static struct claim_to_floor floor_claim(const struct admission *m, const struct candidate *c,
                                         usec_t age)
{
    const struct task *t = &m->s->tasks[c->demand.task];
    usec_t now = m->s->now, waited = task_running(t) ? 0 : now - t->queued_at;
    struct claim_to_floor claim = {CLAIM_RATIO, 0};
    if (c->state != ADMISSION_LATE || c->pinned) /* a pinned job has its minimum already */
        return (struct claim_to_floor){CLAIM_NONE, 0};
    claim.key = (double)(now - t->job->submit) / (c->cost + 1);
    if (task_running(t) && t->memo[AXIS_ALLOCATE].i[0] > now)
        claim = (struct claim_to_floor){CLAIM_HELD, 0};
    else if (waited >= age)
        claim = (struct claim_to_floor){CLAIM_AGED, (double)waited};
    return claim;
}

/* Gives the floor to a job that has waited too long, and returns NULL. Otherwise returns the
 * job that gets it if deadlines leave anything. */
static struct candidate *give_floor(struct admission *m, usec_t age, struct plan *plan)
{
    struct candidate *best = NULL;
    struct claim_to_floor top = {CLAIM_NONE, 0};
    for (uint32_t i = 0; i < m->n; i++) {
        struct claim_to_floor claim = floor_claim(m, &m->at[i], age);
        const struct task *t = &m->s->tasks[m->at[i].demand.task];
        if (claim.kind == CLAIM_RATIO) /* whether it waits already, or has to from now on */
            plan_wake(plan, (task_running(t) ? m->s->now : t->queued_at) + age);
        if (claim.kind > top.kind || (claim.kind == top.kind && claim.key > top.key)) {
            top = claim;
            best = &m->at[i];
        }
    }
    if (top.kind < CLAIM_AGED || best->demand.size[0] > m->left)
        return best;
    admission_give(m, best, best->demand.size[0]);
    if (top.kind == CLAIM_AGED) {
        usec_t resume = best->demand.started ? (usec_t)best->demand.resume : 0;
        struct memo memo = {.i = {m->s->now + resume + age / FLOOR_PART}};
        plan_remember(plan, AXIS_ALLOCATE, MEMO_TASK, best->demand.task, &memo);
        plan_wake(plan, memo.i[0]);
    }
    return NULL;
}

/* Grants what the candidate was given, or as much of it as fits on one node. */
static bool grant(struct budget *b, struct plan *plan, const struct candidate *c, unsigned pool)
{
    const struct demand *d = &c->demand;
    for (int l = demand_level(d, c->out); l >= 0; l--)
        if (budget_grant_in(b, plan, d->task, pool, d->size[l]))
            return true;
    return false;
}

static void allocate_pool(const struct snapshot *s, const struct params *p, struct plan *plan,
                          const uint32_t *order, const uint8_t *pools, unsigned pool,
                          struct budget *b)
{
    struct admission m;
    admission_init(&m, s, order, pools, pool, plan->arena);
    if (m.n == 0)
        return;
    struct candidate *longest = give_floor(&m, param_usec(p, AGE), plan);
    admission_fill(&m, p->v[SLOT].number);
    give_units(&m, longest);
    plan_wake(plan, admission_wake(&m));
    for (uint32_t i = 0; i < m.n; i++) {
        const struct candidate *c = &m.at[m.by_deadline[i]];
        uint32_t task = c->demand.task;
        if (!c->out || !grant(b, plan, c, pool))
            plan_deny(plan, task, WHY_NO_ROOM, TASK_NONE);
        if (c->state != ADMISSION_ADMITTED && isfinite(c->demand.deadline))
            plan_deny(plan, task, WHY_AT_RISK, TASK_NONE);
    }
}

static void allocate_deadline(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    const uint32_t *order = order_by_submit(s, plan);
    const uint8_t *pools = budget_pools(s, order, plan->arena);
    struct budget b;
    budget_init(&b, s, plan->arena);
    for (unsigned pool = 0; pool < s->pools; pool++)
        if (s->size[pool])
            allocate_pool(s, p, plan, order, pools, pool, &b);
}

static bool describe_deadline(const struct snapshot *s, const struct params *p, uint32_t task,
                              struct remark *out)
{
    const struct task *t = &s->tasks[task];
    usec_t deadline = t->job->deadline, end = task_running(t) ? task_end(t, s->now) : USEC_NEVER;
    char span[32];
    (void)p;
    if (deadline == USEC_NEVER)
        snprintf(out->text, sizeof out->text,
                 "Under deadline it gets what jobs with deadlines leave, because it has none.");
    else if (deadline <= s->now)
        snprintf(out->text, sizeof out->text,
                 "Under deadline it gets what others leave, because its deadline passed %s ago.",
                 time_format(s->now - deadline, span, sizeof span));
    else if (end == USEC_NEVER)
        snprintf(out->text, sizeof out->text, "Under deadline it has %s left to start and to end.",
                 time_format(deadline - s->now, span, sizeof span));
    else
        snprintf(out->text, sizeof out->text,
                 "Under deadline, at this size it would end %s %s its deadline.",
                 time_format(end < deadline ? deadline - end : end - deadline, span, sizeof span),
                 end < deadline ? "before" : "after");
    return true;
}

static const struct param params[] = {
    [SLOT] = {"slot", PARAM_DURATION, "60s", 1, 86400, NULL,
              "width of the first slots of the forecast"},
    [AGE] = {"age", PARAM_DURATION, "1h", 1, 1e9, NULL,
             "a job without a deadline, or past it, waits at most this long"},
    {0},
};

const struct policy policy_deadline = {
    .axis = AXIS_ALLOCATE,
    .name = "deadline",
    .summary = "as many deadlines as possible; spare units where they bring most",
    .rule =
        "By deadline, each job gets the smallest share per slot of time that ends it in time in "
        "what earlier deadlines have left; every resize on the way costs its stop. If there is "
        "none, the most expensive one of this job and the admitted ones, in units x time, is "
        "given up for now and is at risk: it runs as best effort and is tried again at every "
        "decision.\n\n"
        "Spare units first let jobs keep what they hold, then start waiting jobs, cheapest first, "
        "then go where the largest part of a unit becomes progress. A running job is resized only "
        "if it then ends sooner by more than the stops cost.\n\n"
        "Jobs without a deadline and late jobs are best effort. Of what deadlines leave, the job "
        "that has waited longest relative to its cost gets its minimum first. One that has waited "
        "for age gets it before all others, and keeps it for a tenth of that time.",
    .source = "A QoS-oriented scheduling and autoscaling framework for deep learning; Gu et al., "
              "ElasticFlow (ASPLOS'23)",
    .params = params,
    .weighs_costs = true,
    .weighs_sizes = true,
    .sees_deadlines = true,
    .decide = allocate_deadline,
    .describe = describe_deadline,
};
