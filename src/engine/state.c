/* Owns the engine's tables: task slots, the order of active tasks (a linked list), the
 * running list, and what nodes hold. Invariants: the units that a node counts as held
 * are the sum over its tasks; a task is in the running list exactly while it is
 * TASK_RUNNING. */
#include "engine/state.h"

static void grow_tasks(struct engine *e)
{
    uint32_t had = e->tasks_cap, cap = had ? had * 2 : 64;
    e->tasks = xgrowarray(e->tasks, had, cap, sizeof *e->tasks);
    e->links = xreallocarray(e->links, cap, sizeof *e->links);
    e->touched_mark = xgrowarray(e->touched_mark, had, cap, sizeof *e->touched_mark);
    if (e->config.explain)
        e->why = xgrowarray(e->why, had, cap, sizeof *e->why);
    e->tasks_cap = cap;
}

/* The largest size of at most n units that the job can run on. */
static units_t largest(const struct job *j, units_t n)
{
    unsigned pool = j->pool == POOL_ANY_GPU ? POOL_GPU : j->pool;
    while (pool + 1 < j->nspeeds && !job_takes_pool(j, pool))
        pool++;
    units_t size = speed_floor(job_speed(j, pool), n);
    return size > j->min ? size : j->min;
}

/* Where CPUs are shared by weight, a grant only reserves some of them. A job then requests
 * its minimum, so that others can run next to it. */
static units_t request_of(const struct engine *e, const struct job *j)
{
    bool soft = e->config.combo.policy[AXIS_SHARE]->soft;
    return soft && j->pool == POOL_CPU ? j->min : j->req;
}

/* Copies what decisions need from the task's job: its place in a sort, the pools that can
 * hold it, and how much it requests under the policy in force. */
static void read_job(const struct engine *e, struct task *t)
{
    const struct job *j = t->job;
    units_t most = 0, request = request_of(e, j);
    t->submit = j->submit;
    t->priority = j->priority;
    t->id = j->id;
    t->pools = 0;
    for (unsigned pool = 0; pool < cluster_pools(&e->cluster); pool++) {
        units_t room = cluster_most(&e->cluster, j, pool, false);
        most = room > most ? room : most;
        t->pools |= room >= j->min ? 1U << pool : 0;
    }
    t->asked = largest(j, request < most ? request : most);
    t->most = largest(j, j->max < most ? j->max : most);
}

uint32_t state_add(struct engine *e, const struct job *job, usec_t now)
{
    uint32_t i;
    if (e->spare.n) {
        i = e->spare.at[--e->spare.n];
    } else {
        if (e->tasks_n == e->tasks_cap)
            grow_tasks(e);
        i = e->tasks_n++;
    }
    struct task *t = &e->tasks[i];
    struct slot *slots = t->at.at; /* from the last task in this slot */
    uint32_t cap = t->slots_cap;
    *t = (struct task){.job = job,
                       .pool = job->pool,
                       .running_at = TASK_NONE,
                       .work = job->work,
                       .as_of = now,
                       .queued_at = now,
                       .changed_at = now,
                       .started_at = USEC_NEVER,
                       .cpu_weight = 1};
    t->at.at = slots;
    t->slots_cap = cap;
    t->mate = i;
    read_job(e, t);
    state_link(e, i);
    return i;
}

void state_remove(struct engine *e, uint32_t task)
{
    struct task *t = &e->tasks[task];
    state_set_phase(e, task, TASK_QUEUED);
    free(t->history);
    t->history = NULL;
    t->job = NULL;
    VEC_PUSH(&e->spare, task);
}

static bool is_linked(const struct engine *e, uint32_t task)
{
    return e->links[task].prev != task;
}

void state_pin(struct engine *e, uint32_t task, bool pinned)
{
    struct task *t = &e->tasks[task];
    if (t->pinned == pinned)
        return;
    t->pinned = pinned;
    e->snapshot.npinned += pinned ? 1 : -1U;
    if (!e->snapshot.by_submit || !is_linked(e, task))
        return;
    state_unlink(e, task);
    state_link(e, task);
}

void state_set_job(struct engine *e, uint32_t task, const struct job *job)
{
    struct task *t = &e->tasks[task];
    e->snapshot.nkeeping -= task_keeps_memory(t);
    t->job = job;
    e->snapshot.nkeeping += task_keeps_memory(t);
    read_job(e, t);
    e->snapshot.by_submit = false;
    state_pin(e, task, task_running(t) && job->no_preempt);
}

void state_read_jobs(struct engine *e)
{
    for (uint32_t i = 0; i < e->tasks_n; i++)
        if (e->tasks[i].job)
            read_job(e, &e->tasks[i]);
}

void state_set_combo(struct engine *e, const struct combo *combo)
{
    e->config.combo = *combo;
    state_read_jobs(e);
}

void state_add_node(struct engine *e, const char *name)
{
    uint32_t n = e->cluster.n++;
    e->cluster.nodes = xgrowarray(e->cluster.nodes, n, n + 1, sizeof *e->cluster.nodes);
    e->cluster.nodes[n].name = name;
    e->stale_mark = xgrowarray(e->stale_mark, n, n + 1, sizeof *e->stale_mark);
    for (int axis = 0; axis < AXES; axis++)
        e->node_memo[axis] = xgrowarray(e->node_memo[axis], n, n + 1, sizeof **e->node_memo);
}

void state_set_phase(struct engine *e, uint32_t task, enum task_phase phase)
{
    struct task *t = &e->tasks[task];
    e->snapshot.npaused -= t->phase == TASK_PAUSED;
    e->snapshot.npaused += phase == TASK_PAUSED;
    e->snapshot.nriding -= t->phase == TASK_RIDING;
    e->snapshot.nriding += phase == TASK_RIDING;
    e->snapshot.nkeeping -= task_keeps_memory(t);
    t->phase = phase;
    e->snapshot.nkeeping += task_keeps_memory(t);
}

/* Whether a comes before b by class, submit time and id. */
static bool ahead(const struct task *a, const struct task *b)
{
    if (task_class(a) != task_class(b))
        return task_class(a) > task_class(b);
    return a->submit != b->submit ? a->submit < b->submit : a->id < b->id;
}

/* The task after which a task belongs in an order by submission. Most tasks belong near the
 * end and pinned ones near the front, so the search starts there. */
static uint32_t find_prev(const struct engine *e, const struct task *t)
{
    uint32_t prev = e->snapshot.last;
    if (t->pinned) {
        uint32_t next = e->snapshot.first;
        while (next != TASK_NONE && ahead(&e->tasks[next], t))
            next = e->links[next].next;
        return next == TASK_NONE ? prev : e->links[next].prev;
    }
    while (prev != TASK_NONE && ahead(t, &e->tasks[prev]))
        prev = e->links[prev].prev;
    return prev;
}

void state_link(struct engine *e, uint32_t task)
{
    struct snapshot *s = &e->snapshot;
    uint32_t prev = s->by_submit ? find_prev(e, &e->tasks[task]) : s->last;
    uint32_t next = prev == TASK_NONE ? s->first : e->links[prev].next;
    e->links[task] = (struct task_link){prev, next};
    *(prev == TASK_NONE ? &s->first : &e->links[prev].next) = task;
    *(next == TASK_NONE ? &s->last : &e->links[next].prev) = task;
    s->active++;
}

void state_unlink(struct engine *e, uint32_t task)
{
    struct snapshot *s = &e->snapshot;
    struct task_link old = e->links[task];
    *(old.prev == TASK_NONE ? &s->first : &e->links[old.prev].next) = old.next;
    *(old.next == TASK_NONE ? &s->last : &e->links[old.next].prev) = old.prev;
    e->links[task] = (struct task_link){task, task};
    s->active--;
}

void state_reorder(struct engine *e, const uint32_t *order, bool by_submit)
{
    struct snapshot *s = &e->snapshot;
    uint32_t n = s->active;
    for (uint32_t i = 0; i < n; i++)
        e->links[order[i]] =
            (struct task_link){i ? order[i - 1] : TASK_NONE, i + 1 < n ? order[i + 1] : TASK_NONE};
    s->first = n ? order[0] : TASK_NONE;
    s->last = n ? order[n - 1] : TASK_NONE;
    s->by_submit = by_submit;
}

static void node_drop_task(struct node *n, uint32_t task)
{
    for (size_t i = 0; i < n->tasks.n; i++)
        if (n->tasks.at[i] == task) {
            memmove(&n->tasks.at[i], &n->tasks.at[i + 1],
                    (n->tasks.n - i - 1) * sizeof *n->tasks.at);
            n->tasks.n--;
            return;
        }
}

/* Adds (sign 1) or removes (-1) what a part of a placement holds. */
static void node_hold(struct node *n, const struct job *j, unsigned pool, units_t units, int sign)
{
    n->cpu_held += sign * job_cpus(j, pool, units);
    n->gpu_held += pool == POOL_CPU ? 0 : sign * units;
}

static void node_hold_memory(struct node *n, const struct job *j, int sign)
{
    n->memory_held += sign * j->memory_mb;
    devices_add(&n->devices_held, &j->devices, sign);
}

/* Whether a task that comes or goes may change the speed of others on its node. */
static bool changes_speeds(const struct engine *e, const struct job *j, unsigned pool)
{
    return pool == POOL_CPU || j->cpus || e->config.interference > 0;
}

void state_occupy(struct engine *e, uint32_t task, unsigned pool, const struct placement *at,
                  units_t n)
{
    struct task *t = &e->tasks[task];
    bool had_memory = t->phase == TASK_PAUSED;
    if (at->at != t->at.at) {
        if (t->slots_cap < at->n) {
            t->slots_cap = at->n;
            t->at.at = xreallocarray(t->at.at, at->n, sizeof *t->at.at);
        }
        memcpy(t->at.at, at->at, at->n * sizeof *at->at);
        t->at.n = at->n;
    }
    t->pool = (uint8_t)pool;
    t->n = n;
    for (uint32_t i = 0; i < t->at.n; i++) {
        struct node *node = &e->cluster.nodes[t->at.at[i].node];
        node_hold(node, t->job, pool, t->at.at[i].units, 1);
        if (!had_memory)
            node_hold_memory(node, t->job, 1);
        VEC_PUSH(&node->tasks, task);
        if (changes_speeds(e, t->job, pool))
            state_stale(e, t->at.at[i].node);
    }
    state_touch(e, task);
}

void state_vacate(struct engine *e, uint32_t task, bool memory)
{
    struct task *t = &e->tasks[task];
    for (uint32_t i = 0; i < t->at.n; i++) {
        struct node *node = &e->cluster.nodes[t->at.at[i].node];
        if (t->n) {
            node_hold(node, t->job, t->pool, t->at.at[i].units, -1);
            node_drop_task(node, task);
        }
        if (memory)
            node_hold_memory(node, t->job, -1);
        if (changes_speeds(e, t->job, t->pool))
            state_stale(e, t->at.at[i].node);
    }
    t->n = 0;
    if (memory)
        t->at.n = 0;
    state_touch(e, task);
}

void state_run(struct engine *e, uint32_t task)
{
    state_set_phase(e, task, TASK_RUNNING);
    e->tasks[task].running_at = (uint32_t)e->running.n;
    e->snapshot.ncpu += e->tasks[task].pool == POOL_CPU;
    VEC_PUSH(&e->running, task);
    state_pin(e, task, e->tasks[task].job->no_preempt);
}

void state_rest(struct engine *e, uint32_t task)
{
    uint32_t at = e->tasks[task].running_at, last = e->running.at[--e->running.n];
    e->running.at[at] = last;
    e->tasks[last].running_at = at;
    e->tasks[task].running_at = TASK_NONE;
    e->snapshot.ncpu -= e->tasks[task].pool == POOL_CPU;
    state_pin(e, task, false);
}

void state_touch(struct engine *e, uint32_t task)
{
    if (e->touched_mark[task] == e->step)
        return;
    e->touched_mark[task] = e->step;
    VEC_PUSH(&e->touched, task);
}

void state_stale(struct engine *e, uint32_t node)
{
    if (e->stale_mark[node])
        return;
    e->stale_mark[node] = true;
    VEC_PUSH(&e->stale, node);
}

void state_effect(struct engine *e, enum effect_kind kind, uint32_t task, units_t from, units_t to,
                  usec_t cost)
{
    VEC_PUSH(&e->effects, (struct effect){kind, task, from, to, cost, AXES, TASK_NONE});
}
