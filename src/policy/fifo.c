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
 * running job is not known, nothing behind the first misfit starts.
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
    uint32_t who;  /* TASK_NONE = nobody yet */
    usec_t at;     /* when it can start */
    units_t spare; /* units free then beyond what it needs */
    uint32_t node; /* for a task that must be whole: the node it waits for */
    units_t blocked; /* units of that node kept from others meanwhile */
};

/* The time at which tasks, in order of their end, have freed `need` units;
 * USEC_NEVER when that cannot be told. `over` gets what is free beyond it. */
static usec_t when_free(const struct snapshot *s, struct keyed *ends, uint32_t n, units_t need,
                        struct arena *a, units_t *over)
{
    order_sort(ends, n, a);
    for (uint32_t i = 0; i < n && ends[i].rank != USEC_NEVER; i++) {
        need -= s->tasks[ends[i].task].n;
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

static void reserve_pool(const struct budget *b, uint32_t task, unsigned pool,
                         struct reservation *v)
{
    const struct snapshot *s = b->s;
    struct keyed *ends = arena_raw(b->arena, (s->nrunning + 1) * sizeof *ends);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nrunning; i++)
        if (s->tasks[s->running[i]].pool == pool)
            ends[n++] = end_of(s, s->running[i]);
    units_t need = s->tasks[task].job->req - b->free[pool];
    v->at = when_free(s, ends, n, need, b->arena, &v->spare);
}

/* The node where a task that must be whole can start first. */
static void reserve_node(struct budget *b, uint32_t task, unsigned pool, struct reservation *v)
{
    const struct snapshot *s = b->s;
    const struct job *j = s->tasks[task].job;
    v->at = USEC_NEVER;
    for (uint32_t i = 0; i < s->cluster->n; i++) {
        const struct node *node = &s->cluster->nodes[i];
        if (node->state != NODE_UP || node_size(node, pool) < j->req)
            continue;
        struct keyed *ends = arena_raw(b->arena, (node->tasks.n + 1) * sizeof *ends);
        uint32_t n = 0;
        for (size_t k = 0; k < node->tasks.n; k++)
            if (s->tasks[node->tasks.at[k]].pool == pool)
                ends[n++] = end_of(s, node->tasks.at[k]);
        units_t over, need = j->req - room_free(&b->room, pool, i);
        usec_t at = when_free(s, ends, n, need, b->arena, &over);
        if (at < v->at) {
            v->at = at;
            v->node = i;
        }
    }
    v->spare = 0;
    if (v->at == USEC_NEVER)
        return;
    v->blocked = room_free(&b->room, pool, v->node);
    room_take(&b->room, j, pool, v->node, v->blocked, true);
}

static void reserve(struct budget *b, uint32_t task, unsigned pool, struct reservation *v)
{
    v->who = task;
    if (b->s->tasks[task].job->whole && b->by_node)
        reserve_node(b, task, pool, v);
    else
        reserve_pool(b, task, pool, v);
}

/* Grants the task if it keeps out of the reservation's way. */
static bool backfill(struct budget *b, struct plan *plan, uint32_t task, struct reservation *v)
{
    const struct task *t = &b->s->tasks[task];
    const struct job *head = b->s->tasks[v->who].job;
    units_t n = t->job->req;
    unsigned pool;
    if (v->at == USEC_NEVER || !budget_take(b, task, n, &pool)) {
        if (v->at == USEC_NEVER || !v->blocked)
            return false;
    } else if (head->whole || n <= v->spare ||
               b->s->now + task_time_on(t, pool, n, b->s->now) <= (double)v->at) {
        if (!head->whole && b->s->now + task_time_on(t, pool, n, b->s->now) > (double)v->at)
            v->spare -= n;
        plan_give(plan, task, pool, n);
        return true;
    } else {
        budget_return(b, task, pool, n);
        return false;
    }
    /* Only the reserved node is left: for a task that is gone in time. */
    pool = t->job->pool;
    if (b->s->now + task_time_on(t, pool, n, b->s->now) > (double)v->at)
        return false;
    room_give(&b->room, head, pool, v->node, v->blocked, false);
    bool fits = budget_take(b, task, n, &pool);
    if (fits)
        plan_give(plan, task, pool, n);
    v->blocked = room_free(&b->room, pool, v->node);
    room_take(&b->room, head, pool, v->node, v->blocked, true);
    return fits;
}

/* The pool that a waiting task is queued for: the one it names, or the first. */
static unsigned queue_of(const struct task *t)
{
    return t->job->pool == POOL_ANY_GPU ? POOL_GPU : t->job->pool;
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
    for (unsigned i = 0; i < s->pools; i++) {
        held[i] = (struct reservation){.who = TASK_NONE};
        open += s->size[i] > 0;
    }
    budget_init(&b, s, plan->arena);
    budget_keep_running(&b, plan);
    for (uint32_t i = 0, task = s->first; i < s->active; i++, task = s->tasks[task].next) {
        uint32_t now = sorted ? sorted[i] : task;
        const struct task *t = &s->tasks[now];
        unsigned q = queue_of(t);
        if (task_running(t))
            continue;
        if (held[q].who == TASK_NONE && budget_grant(&b, plan, now, t->job->req))
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
            open -= held[q].who == TASK_NONE;
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
        "before that time or it leaves the reservation whole, so large jobs never starve.",
    .source = "Schedulearn (Setyawan Raya); Voda (skip); Lifka 1995 (EASY backfilling)",
    .params = params,
    .decide = allocate_fifo,
};
