/* fifo: jobs in order of submission, each granted what it requests if that is free. Running
 * jobs keep what they hold.
 *
 * order=strict: the first job that does not fit blocks all jobs after it.
 * order=skip: jobs that do not fit are skipped (Voda's FIFO; fjf in Tiresias' simulator). A
 * large job may starve.
 * order=backfill: the first job that does not fit gets a reservation: the earliest time at
 * which running jobs will have freed enough. A later job may start now only if it ends before
 * that time or does not use what is reserved (EASY backfilling), so large jobs never starve.
 * If the end of a running job is not known, no job after the first one that does not fit
 * starts. A job that could not run on the nodes that are up is skipped.
 *
 * Source: Schedulearn; Voda; Lifka, "The ANL/IBM SP scheduling system" (1995)
 * for backfilling. */
#include "policy/budget.h"
#include "policy/order.h"
#include "policy/policies.h"

enum { ORDER };
enum { ORDER_STRICT, ORDER_SKIP, ORDER_BACKFILL };

/* A reservation for the first task that does not fit in a pool. */
struct reservation {
    uint32_t who; /* TASK_NONE = no task yet */
    unsigned pool;
    usec_t at;       /* when it can start */
    units_t spare;   /* units that are free then beyond what it needs */
    uint32_t node;   /* for a task that must fit on one node: that node */
    units_t blocked; /* units of that node that others cannot have meanwhile */
};

/* Units of the task on the node; in total for TASK_NONE. */
static units_t units_on(const struct task *t, uint32_t node)
{
    return node == TASK_NONE ? t->n : placement_on(&t->at, node);
}

/* When tasks that end will have freed `need` units of the node (TASK_NONE = of all nodes);
 * USEC_NEVER if that is not known. *over becomes what is free beyond that. */
static usec_t when_free(const struct budget *b, struct keyed *ends, uint32_t n, units_t need,
                        uint32_t node, units_t *over)
{
    order_sort(ends, n, b->arena);
    for (uint32_t i = 0; i < n && ends[i].rank != USEC_NEVER; i++) {
        need -= units_on(&b->s->tasks[ends[i].task], node);
        if (need <= 0) {
            *over = -need;
            return ends[i].rank;
        }
    }
    return USEC_NEVER;
}

static struct keyed end_of(const struct snapshot *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    usec_t end = t->work > 0 ? task_end(t, s->now) : USEC_NEVER;
    return (struct keyed){.rank = end, .id = t->job->id, .task = task};
}

static void reserve_pool(const struct budget *b, struct reservation *v)
{
    const struct snapshot *s = b->s;
    struct keyed *ends = arena_raw(b->arena, (s->nrunning + 1) * sizeof *ends);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nrunning; i++)
        if (s->tasks[s->running[i]].pool == v->pool)
            ends[n++] = end_of(s, s->running[i]);
    units_t need = task_asked(&s->tasks[v->who]) - b->free[v->pool];
    v->at = when_free(b, ends, n, need, TASK_NONE, &v->spare);
}

/* When n units of the node will be free, counting what the plan has put there. */
static usec_t when_node_free(const struct budget *b, unsigned pool, uint32_t node, units_t n)
{
    const struct snapshot *s = b->s;
    const struct node *at = &s->cluster->nodes[node];
    struct keyed *ends = arena_raw(b->arena, (at->tasks.n + 1) * sizeof *ends);
    units_t over, need = n - room_free(&b->room, pool, node);
    uint32_t count = 0;
    for (size_t i = 0; i < at->tasks.n; i++) {
        const struct task *t = &s->tasks[at->tasks.at[i]];
        if (t->pool != pool)
            continue;
        ends[count++] = end_of(s, at->tasks.at[i]);
        if (!t->job->whole) /* the budget does not count it by node */
            need += units_on(t, node);
    }
    return when_free(b, ends, count, need, node, &over);
}

/* Reserves the node on which a task that must fit on one can start first. */
static void reserve_node(struct budget *b, struct reservation *v)
{
    const struct snapshot *s = b->s;
    units_t n = task_asked(&s->tasks[v->who]);
    v->at = USEC_NEVER;
    for (uint32_t i = 0; i < s->cluster->n; i++) {
        const struct node *node = &s->cluster->nodes[i];
        if (node->state != NODE_UP || node_size(node, v->pool) < n)
            continue;
        usec_t at = when_node_free(b, v->pool, i, n);
        if (at < v->at) {
            v->at = at;
            v->node = i;
        }
    }
    if (v->at != USEC_NEVER)
        v->blocked = room_block(&b->room, v->pool, v->node);
}

/* Whether the task could run on the nodes that are up if they were empty. */
static bool could_run(const struct snapshot *s, const struct task *t, unsigned pool)
{
    if (!t->job->whole)
        return s->size[pool] >= task_asked(t);
    for (uint32_t i = 0; i < s->cluster->n; i++)
        if (s->cluster->nodes[i].state == NODE_UP &&
            node_size(&s->cluster->nodes[i], pool) >= task_asked(t))
            return true;
    return false;
}

/* Reserves units for the task. A task that waits for a node to come back gets no reservation:
 * it would block all others meanwhile. */
static void reserve(struct budget *b, uint32_t task, unsigned pool, struct reservation *v)
{
    const struct task *t = &b->s->tasks[task];
    if (!could_run(b->s, t, pool))
        return;
    *v = (struct reservation){.who = task, .pool = pool};
    if (t->job->whole) {
        budget_count_by_node(b);
        reserve_node(b, v);
    } else {
        reserve_pool(b, v);
    }
}

/* Whether the task, if it starts now, ends before the reservation begins. */
static bool ends_in_time(const struct snapshot *s, const struct task *t, unsigned pool,
                         const struct reservation *v)
{
    double start = (double)(s->now + (t->starts ? job_resume_cost(t->job) : 0));
    return start + task_time_on(t, pool, task_asked(t), s->now) <= (double)v->at;
}

/* Grants units of the reserved node to a task that ends in time. */
static bool backfill_node(struct budget *b, struct plan *plan, uint32_t task, struct reservation *v)
{
    const struct task *t = &b->s->tasks[task];
    if (!v->blocked || !job_takes_pool(t->job, v->pool) || !ends_in_time(b->s, t, v->pool, v))
        return false;
    room_unblock(&b->room, v->pool, v->node, v->blocked);
    bool fits = budget_grant(b, plan, task, task_asked(t));
    v->blocked = room_block(&b->room, v->pool, v->node);
    return fits;
}

/* Grants the task its units if the reservation is not delayed by it. */
static bool backfill(struct budget *b, struct plan *plan, uint32_t task, struct reservation *v)
{
    const struct task *t = &b->s->tasks[task];
    bool by_node = b->s->tasks[v->who].job->whole;
    units_t n = task_asked(t);
    unsigned pool;
    if (v->at == USEC_NEVER)
        return false;
    if (!budget_take(b, task, n, &pool))
        return backfill_node(b, plan, task, v);
    bool stays = pool == v->pool && !ends_in_time(b->s, t, pool, v);
    bool leaves_whole = !by_node ? n <= v->spare : t->job->whole || b->free[pool] >= v->blocked;
    if (stays && !leaves_whole) {
        budget_return(b, task, pool, n);
        return false;
    }
    plan_give(plan, task, pool, n);
    if (stays && by_node)
        plan_grant(plan, task)->not_on = v->node + 1;
    else if (stays)
        v->spare -= n;
    return true;
}

/* The pool for which a waiting task queues: the one it names, or the first that is large
 * enough. */
static unsigned queue_of(const struct snapshot *s, const struct task *t)
{
    if (t->job->pool != POOL_ANY_GPU)
        return t->job->pool;
    for (unsigned pool = POOL_GPU; pool < s->pools; pool++)
        if (s->size[pool] >= task_asked(t))
            return pool;
    return POOL_GPU;
}

static void wait_for(struct plan *plan, uint32_t task, const struct reservation *v)
{
    plan_deny(plan, task, v->who == task ? WHY_NO_ROOM : WHY_RESERVED, v->who);
}

static void allocate_fifo(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct budget b;
    struct reservation held[POOLS_MAX];
    unsigned rule = (unsigned)p->v[ORDER].number, open = 0;
    const uint32_t *sorted = s->by_submit ? NULL : order_by_submit(s, plan);
    for (unsigned i = 0; i < POOLS_MAX; i++)
        held[i] = (struct reservation){.who = TASK_NONE};
    for (unsigned i = 0; i < s->pools; i++)
        open += s->size[i] > 0;
    budget_init(&b, s, plan->arena);
    budget_keep_running(&b, plan);
    for (uint32_t i = 0, task = s->first; i < s->active; i++, task = s->links[task].next) {
        uint32_t now = sorted ? sorted[i] : task;
        const struct task *t = &s->tasks[now];
        unsigned q = queue_of(s, t);
        if (task_running(t))
            continue;
        if (held[q].who == TASK_NONE && budget_grant(&b, plan, now, task_asked(t)))
            continue;
        if (held[q].who != TASK_NONE && rule == ORDER_BACKFILL) {
            if (!backfill(&b, plan, now, &held[q]))
                wait_for(plan, now, &held[q]);
            continue;
        }
        if (rule == ORDER_BACKFILL) {
            reserve(&b, now, q, &held[q]);
        } else if (rule == ORDER_STRICT) {
            plan_deny(plan, now, held[q].who == TASK_NONE ? WHY_NO_ROOM : WHY_BEHIND, held[q].who);
            open -= held[q].who == TASK_NONE && s->size[q] > 0;
            held[q].who = held[q].who == TASK_NONE ? now : held[q].who;
            if (!plan->why && open == 0)
                break;
        }
    }
}

static const struct param params[] = {
    [ORDER] = {"order", PARAM_CHOICE, "backfill", 0, 0, "strict|skip|backfill",
               "what happens to jobs after one that does not fit"},
    {0},
};

const struct policy policy_fifo = {
    .axis = AXIS_ALLOCATE,
    .name = "fifo",
    .summary = "by submission: strictly, skipping jobs that do not fit, or backfilling",
    .rule =
        "Jobs in order of submission (within a priority), each granted what it requests if that "
        "is free. Running jobs keep what they hold.\n\n"
        "order=strict: the first job that does not fit blocks all jobs after it.\n\n"
        "order=skip: jobs that do not fit are skipped; a large job may starve.\n\n"
        "order=backfill: the first job that does not fit gets a reservation at the earliest time "
        "at which running jobs will have freed enough. A later job starts only if its expected "
        "end is before that time or it does not use what is reserved, so large jobs never starve. "
        "A job that waits for a node to come back gets no reservation.",
    .source = "Schedulearn (Setyawan Raya); Voda (skip); Lifka 1995 (EASY backfilling)",
    .params = params,
    .decide = allocate_fifo,
};
