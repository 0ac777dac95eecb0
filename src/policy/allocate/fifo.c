/* fifo: jobs in order of submission, each granted what it asked for when that
 * is free. Running jobs keep what they hold.
 *
 * order=strict: the first job that does not fit blocks all behind it.
 * order=skip: jobs that do not fit are passed over (Voda's FIFO; fjf in
 * Tiresias' simulator). A large job may starve.
 * order=backfill: the first job that does not fit gets a reservation: the
 * earliest time at which running jobs will have freed enough. A job behind it
 * may start now only if it ends before that time or leaves the reservation
 * whole (EASY backfilling), so large jobs never starve. When the end of a
 * running job is not known, nothing behind the first misfit starts. A job that
 * could not run on the nodes that are up is passed over.
 *
 * Source: Schedulearn; Voda; Lifka, "The ANL/IBM SP scheduling system" (1995)
 * for backfilling. */
#include "policy/budget.h"
#include "policy/order.h"
#include "policy/policies.h"

enum { ORDER };
enum { ORDER_STRICT, ORDER_SKIP, ORDER_BACKFILL };

/* A hold on units for the first task that did not fit in a pool. */
struct reservation {
    uint32_t who; /* TASK_NONE = nobody yet */
    unsigned pool;
    usec_t at;       /* when it can start */
    units_t spare;   /* units free then beyond what it needs */
    uint32_t node;   /* for a task that must be whole: the node it waits for */
    units_t blocked; /* units of that node kept from others meanwhile */
};

/* Units of the task on the node, or in all. */
static units_t units_on(const struct task *t, uint32_t node)
{
    return node == TASK_NONE ? t->n : placement_on(&t->at, node);
}

/* The time at which tasks, in order of their end, have freed `need` units of the
 * node (TASK_NONE = of any); USEC_NEVER when that cannot be told. `over` gets what
 * is free beyond it. */
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

/* When the node will have n units, counting what the plan has put there. */
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
        if (!t->job->whole) /* the budget counts only whole ones by node */
            need += units_on(t, node);
    }
    return when_free(b, ends, count, need, node, &over);
}

/* The node where a task that must be whole can start first. */
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

/* Whether it could run on the nodes that are up if nobody else did. */
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

/* A task that waits for a node to come back gets none: it would keep all others
 * from running meanwhile. */
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

/* Whether the task, started now, is gone when the reservation begins. */
static bool ends_in_time(const struct snapshot *s, const struct task *t, unsigned pool,
                         const struct reservation *v)
{
    double start = (double)(s->now + (t->starts ? job_resume_cost(t->job) : 0));
    return start + task_time_on(t, pool, task_asked(t), s->now) <= (double)v->at;
}

/* Lets a task that is gone in time onto the reserved node. */
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

/* Grants the task if it keeps out of the reservation's way. */
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

/* The pool that a waiting task is queued for: the one it names, or the first that
 * is large enough. */
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
               "what happens behind a job that does not fit"},
    {0},
};

const struct policy policy_fifo = {
    .axis = AXIS_ALLOCATE,
    .name = "fifo",
    .summary = "by submission: strictly, skipping misfits, or backfilling behind a reservation",
    .rule =
        "Jobs in order of submission (within a priority), each granted what it asked for when "
        "that is free. Running jobs keep what they hold.\n\n"
        "order=strict: the first job that does not fit blocks those behind it.\n\n"
        "order=skip: jobs that do not fit are passed over; a large job may starve.\n\n"
        "order=backfill: the first job that does not fit gets a reservation at the earliest time "
        "when running jobs will have freed enough. A later job starts only if its estimated end is "
        "before that time or it leaves the reservation whole, so large jobs never starve. A job "
        "that waits for a node to come back gets no reservation.",
    .source = "Schedulearn (Setyawan Raya); Voda (skip); Lifka 1995 (EASY backfilling)",
    .params = params,
    .decide = allocate_fifo,
};
