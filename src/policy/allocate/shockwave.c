/* shockwave: fair over time, and done early. Plans the next `window` rounds as a market would.
 *
 * A job's utility is the logarithm of its progress, so that a little progress of a job that has
 * made none is worth much. The plan gives each job a number of rounds such that the sum of the
 * utilities, divided by jobs x rounds, minus `k` per second of the longest time that is left after
 * the window, is largest (market.c). If all jobs can end no later than with a fair share of the
 * cluster, each gets the rounds that it needs for that. Otherwise a job that is late weighs
 * rho^lambda times as much, where rho is its expected end over its fair end, and that is an average
 * over the time since it came.
 *
 * The plan is made again when jobs come or go, and after the window. In each round those come first
 * that have no slack left in the window, then the planned ones by weight, of equals those with the
 * earliest fair end. What is left goes to the others, those with the longest time left first.
 *
 * Source: Zheng et al., "Shockwave" (NSDI'23), and its scheduler/shockwave.py. Deviations: the
 * rounds are those of the relaxed problem, found without a solver, and rounded up; changes of batch
 * sizes are not predicted; and `k` is smaller by default (Shockwave's is 0.001), which is much
 * fairer and hardly later. */
#include <math.h>

#include "policy/allocate/market.h"
#include "policy/policies.h"
#include "policy/queue.h"

enum { ROUND, WINDOW, K, LAMBDA };

/* What a policy remembers of a job. */
enum { SINCE, UPDATED };                   /* memo.i: first estimate of its fair end, last one */
enum { SUM, FAIR_END, RUN_UNTIL, WEIGHT }; /* memo.d: sum over time of it, last one, the plan */

struct planner {
    const struct snapshot *s;
    const struct params *p;
    struct plan *plan;
    const struct keyed *k;
    struct market market; /* buyers are in the order of k */
    double *fair;         /* ends of the jobs with a fair share, in the same order */
};

/* The part of the time that a job would run if all had the same. */
static double equal_part(const struct planner *m)
{
    return fmin(1, m->market.units / m->s->active);
}

/* Adds what is now the fair end of the job to the average; returns that average, in seconds. */
static double fair_end(const struct planner *m, const struct task *t, const struct buyer *b,
                       struct memo *memo)
{
    double now = time_seconds(m->s->now), since = time_seconds(memo->i[SINCE] - 1);
    double end = time_seconds(t->submit) + b->total / equal_part(m);
    if (memo->i[SINCE])
        memo->d[SUM] += memo->d[FAIR_END] * (now - time_seconds(memo->i[UPDATED]));
    else
        memo->i[SINCE] = m->s->now + 1;
    memo->i[UPDATED] = m->s->now;
    memo->d[FAIR_END] = end;
    bool first = memo->i[SINCE] == m->s->now + 1;
    return 0.9 * (first ? end : memo->d[SUM] / (now - since)) + 0.1 * end;
}

/* Whether everyone can end within its fair time. If so, each needs some time in the window for it;
 * if not, those that are late weigh more instead. */
static bool can_be_fair(struct planner *m)
{
    double sum = 0, end = time_seconds(m->s->now) + m->market.length;
    bool possible = true;
    for (uint32_t i = 0; i < m->s->active; i++) {
        struct buyer *b = &m->market.buyers[i];
        b->needs = fmin(fmax(b->left - equal_part(m) * (m->fair[i] - end), 0), b->left);
        possible &= b->needs <= m->market.length;
        sum += b->needs * b->units;
    }
    return possible && sum <= m->market.units * m->market.length;
}

static void weigh_late(struct planner *m)
{
    const double most = 1e12; /* weights beyond that are alike */
    for (uint32_t i = 0; i < m->s->active; i++) {
        struct buyer *b = &m->market.buyers[i];
        double rho = (time_seconds(m->s->now) + b->left / equal_part(m)) / fmax(m->fair[i], 1e-6);
        b->needs = 0;
        b->weight *= rho > 1 ? fmin(pow(rho, m->p->v[LAMBDA].number), most) : 1;
    }
}

static void make_plan(struct planner *m)
{
    double round = time_seconds(param_usec(m->p, ROUND));
    uint32_t n = m->s->active;
    struct memo *memos = ARENA_ARRAY(m->plan->arena, n, struct memo);
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &m->s->tasks[m->k[i].task];
        struct buyer *b = &m->market.buyers[i];
        memos[i] = t->memo[AXIS_ALLOCATE];
        b->weight = t->job->weight;
        m->fair[i] = fair_end(m, t, b, &memos[i]);
    }
    if (!can_be_fair(m))
        weigh_late(m);
    market_solve(&m->market);
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &m->s->tasks[m->k[i].task];
        double run = time_seconds(task_run_time(t, m->s->now));
        memos[i].d[RUN_UNTIL] = run + ceil(m->market.buyers[i].time / round - 1e-9) * round;
        memos[i].d[WEIGHT] = m->market.buyers[i].weight;
        plan_remember(m->plan, AXIS_ALLOCATE, MEMO_TASK, m->k[i].task, &memos[i]);
        m->market.buyers[i].time = memos[i].d[RUN_UNTIL] - run;
    }
    struct memo all = {.i = {m->s->now + 1, m->s->now + (usec_t)(m->market.length * USEC_PER_SEC)}};
    plan_remember(m->plan, AXIS_ALLOCATE, MEMO_ALL, 0, &all);
}

/* What is left of the plan. */
static void read_plan(struct planner *m)
{
    for (uint32_t i = 0; i < m->s->active; i++) {
        const struct task *t = &m->s->tasks[m->k[i].task];
        const struct memo *memo = &t->memo[AXIS_ALLOCATE];
        m->fair[i] = memo->d[FAIR_END];
        m->market.buyers[i].weight = memo->d[WEIGHT];
        m->market.buyers[i].time = memo->d[RUN_UNTIL] - time_seconds(task_run_time(t, m->s->now));
    }
}

static struct buyer describe(const struct planner *m, uint32_t task)
{
    const struct task *t = &m->s->tasks[task];
    double left = fmax(queue_time_left(m->s, task) / USEC_PER_SEC, 1e-6);
    double work = fmax(t->work, 1), share = fmax(task_remaining(t, m->s->now) / work, 1e-9);
    return (struct buyer){.left = fmin(left, 1e12),
                          .total = fmin(left / share, 1e15),
                          .units = (double)task_asked(t) / UNIT};
}

/* Whether the plan still holds. */
static bool is_current(const struct planner *m)
{
    const struct memo *all = &m->s->memo[AXIS_ALLOCATE];
    return all->i[0] && all->i[0] > m->s->last_arrival && all->i[0] > m->s->last_departure &&
           m->s->now < all->i[1];
}

/* Those without slack first, then by weight; then those that are not planned, the longest first.
 * Equals are ordered by their fair ends. */
static double place_in_queue(const struct planner *m, const struct buyer *b, double rest)
{
    double round = time_seconds(param_usec(m->p, ROUND));
    if (b->time < round / 2)
        return -1 / (1 + b->left) + 2;
    return b->time >= rest - round / 2 ? -2 : -b->weight / (1 + b->weight);
}

static void open_market(struct planner *m)
{
    double round = time_seconds(param_usec(m->p, ROUND)), rounds = m->p->v[WINDOW].number;
    m->market = (struct market){
        .n = m->s->active, .length = round * rounds, .rounds = rounds, .k = m->p->v[K].number};
    m->market.buyers = ARENA_ARRAY(m->plan->arena, m->s->active, struct buyer);
    m->market.parts =
        arena_raw(m->plan->arena, (size_t)m->s->active * MARKET_PARTS * sizeof *m->market.parts);
    m->fair = ARENA_ARRAY(m->plan->arena, m->s->active, double);
    for (unsigned pool = 0; pool < m->s->pools; pool++)
        m->market.units +=
            pool != POOL_CPU || m->s->pools == 1 ? (double)m->s->size[pool] / UNIT : 0;
    for (uint32_t i = 0; i < m->s->active; i++)
        m->market.buyers[i] = describe(m, m->k[i].task);
}

static void allocate_shockwave(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    usec_t round = param_usec(p, ROUND);
    struct keyed *k = order_collect(s, plan->arena);
    struct planner m = {.s = s, .p = p, .plan = plan, .k = k};
    if (!s->active)
        return;
    open_market(&m);
    double rest = m.market.length;
    if (is_current(&m)) {
        read_plan(&m);
        rest = time_seconds(s->memo[AXIS_ALLOCATE].i[1] - s->now);
    } else {
        make_plan(&m);
    }
    for (uint32_t i = 0; i < s->active; i++) {
        bool paying = task_is_paying(&s->tasks[k[i].task], s->now);
        k[i].key = paying ? -3 : place_in_queue(&m, &m.market.buyers[i], rest);
        k[i].tie = (usec_t)(fmin(m.fair[i], 1e12) * USEC_PER_SEC);
    }
    queue_serve(s, k, plan);
    plan_wake(plan, (s->now / round + 1) * round);
}

static const struct param params[] = {
    [ROUND] = {"round", PARAM_DURATION, "2m", 1, 86400, NULL, "time for which jobs are chosen"},
    [WINDOW] = {"window", PARAM_NUMBER, "20", 1, 1000, NULL, "rounds that are planned"},
    [K] = {"k", PARAM_NUMBER, "0.0001", 0, 1e6, NULL,
           "worth of a second by which all are done earlier"},
    [LAMBDA] = {"lambda", PARAM_NUMBER, "12", 0, 100, NULL,
                "how much more a job weighs that is late"},
    {0},
};

const struct policy policy_shockwave = {
    .axis = AXIS_ALLOCATE,
    .name = "shockwave",
    .summary = "fair over time and done early: a market for the next rounds, preemptive",
    .rule =
        "The next `window` rounds are planned so that the sum of the logarithms of the jobs' "
        "progress is large and the longest time left is short. A job that would end later than "
        "with its fair share of the cluster weighs more. In each round, jobs that have no slack "
        "left in the plan come first, then the planned ones by weight, then the others, the "
        "longest "
        "first.\n\n"
        "The plan is made again when jobs come or go, and after the window.",
    .source = "Zheng et al., Shockwave: fair and efficient cluster scheduling (NSDI'23)",
    .params = params,
    .decide = allocate_shockwave,
};
