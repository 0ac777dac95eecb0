/* Owns the invariants of a plan. A grant is 0 or an admissible size within the task's
 * bounds. It is on nodes of its pool that are up, each node once, or stays where it is. No
 * node holds more units or memory than it has. A pinned task is neither stopped nor moved,
 * and a task that cannot restart is not moved.
 * The order has each active task once. Shares, memos and lists are for things that exist. A
 * violation is a bug in a policy: it is reported, and nothing is adjusted.
 *
 * The memory of a task that is or would be paused does not count unless the task is granted
 * units: it gives that memory up (yield.c), unless it keeps it. Nor does what a stopping task still
 * holds: grants that need it wait. */
#include "engine/check.h"

#include <math.h>

#include "engine/load.h"

static int check_size(const struct engine *e, const struct grant *g, struct err *err)
{
    if (g->task >= e->tasks_n || !e->tasks[g->task].job)
        return err_set(err, ERR_INTERNAL, "plan: no task %u", g->task);
    const struct task *t = &e->tasks[g->task];
    const struct job *j = t->job;
    if (t->phase == TASK_HELD || t->phase == TASK_STOPPING)
        return err_set(err, ERR_INTERNAL,
                       "plan: job %s is granted units, but it is held or stopping", j->name);
    if (g->pool >= e->snapshot.pools || !job_takes_pool(j, g->pool))
        return err_set(err, ERR_INTERNAL, "plan: job %s cannot use pool %u", j->name, g->pool);
    if (g->n < task_min(t) || g->n > task_max(t))
        return err_set(err, ERR_INTERNAL, "plan: job %s gets %lld units, not %lld to %lld", j->name,
                       (long long)g->n, (long long)task_min(t), (long long)task_max(t));
    bool stays = t->pinned && g->n == t->n; /* its job may no longer allow this size */
    if (!stays &&
        (g->n < j->min || (g->n != j->min && speed_floor(job_speed(j, g->pool), g->n) != g->n)))
        return err_set(err, ERR_INTERNAL, "plan: job %s cannot run on %lld units", j->name,
                       (long long)g->n);
    return 0;
}

/* Checks one part of a new placement. `seen` is by node: the last grant that used it. */
static int check_slot(const struct engine *e, const struct grant *g, const struct slot *slot,
                      uint32_t *seen, struct err *err)
{
    const struct task *t = &e->tasks[g->task];
    const char *name = t->job->name;
    if (slot->node >= e->cluster.n || slot->units <= 0 ||
        (g->pool != POOL_CPU && slot->units % UNIT))
        return err_set(err, ERR_INTERNAL, "plan: job %s is in an impossible place", name);
    const struct node *n = &e->cluster.nodes[slot->node];
    if (node_size(n, g->pool) == 0)
        return err_set(err, ERR_INTERNAL, "plan: job %s is on %s, which has no units of its pool",
                       name, n->name);
    if (seen[slot->node] == g->task + 1)
        return err_set(err, ERR_INTERNAL, "plan: job %s is on %s twice", name, n->name);
    seen[slot->node] = g->task + 1;
    if (n->state != NODE_UP &&
        slot->units > (task_running(t) ? placement_on(&t->at, slot->node) : 0))
        return err_set(err, ERR_INTERNAL, "plan: job %s takes units on %s, which is %s", name,
                       n->name,
                       n->state == NODE_DOWN     ? "down"
                       : n->state == NODE_CLOSED ? "closed"
                                                 : "draining");
    if (t->phase == TASK_PAUSED && !placement_on(&t->at, slot->node))
        return err_set(err, ERR_INTERNAL, "plan: job %s is paused, but not on %s", name, n->name);
    return 0;
}

/* A node has whole workers, or one of a job whose workers are apart. */
static int check_workers(const struct job *j, const struct placement *at, struct err *err)
{
    bool fine = !j->nodes || at->n <= j->nodes;
    for (uint32_t i = 0; j->worker && i < at->n; i++)
        fine &= j->apart ? at->at[i].units == j->worker : at->at[i].units % j->worker == 0;
    return fine ? 0
                : err_set(err, ERR_INTERNAL, "plan: the workers of job %s are misplaced", j->name);
}

static int check_place(const struct engine *e, const struct grant *g, uint32_t *seen,
                       struct err *err)
{
    const struct task *t = &e->tasks[g->task];
    const struct placement *at = &g->place;
    units_t sum = 0;
    if (!g->moved && t->phase == TASK_RUNNING && t->pool == g->pool && t->n == g->n)
        return 0;
    if (!g->moved)
        return err_set(err, ERR_INTERNAL, "plan: job %s has no place", t->job->name);
    for (uint32_t i = 0; i < at->n; i++) {
        if (check_slot(e, g, &at->at[i], seen, err) < 0)
            return -1;
        sum += at->at[i].units;
    }
    if (check_workers(t->job, at, err) < 0)
        return -1;
    if (sum != g->n || (t->job->whole && at->n > 1))
        return err_set(err, ERR_INTERNAL, "plan: job %s has %lld units in %u places, not %lld",
                       t->job->name, (long long)sum, at->n, (long long)g->n);
    if (t->phase == TASK_PAUSED && at->n != t->at.n)
        return err_set(err, ERR_INTERNAL, "plan: job %s is resumed on some of its nodes only",
                       t->job->name);
    return 0;
}

/* How the plan changes what nodes hold: grants that move, and tasks that lose all units. */
static struct load *add_changes(const struct engine *e, const struct plan *plan)
{
    struct load *sums = ARENA_ARRAY(plan->arena, e->cluster.n, struct load);
    for (size_t i = 0; i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        const struct grant *g = plan_grant(plan, e->running.at[i]);
        bool stops = !g || g->n == 0;
        if (stops || g->moved)
            load_add_place(sums, t->job, t->pool, &t->at, -1, !stops || !task_keeps_memory(t));
    }
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &e->tasks[g->task];
        bool has_memory = t->phase == TASK_PAUSED && task_keeps_memory(t);
        if (g->n && g->moved)
            load_add_place(sums, t->job, g->pool, &g->place, 1, !has_memory);
    }
    for (uint32_t i = e->snapshot.npaused ? e->snapshot.first : TASK_NONE; i != TASK_NONE;
         i = e->links[i].next) {
        const struct task *t = &e->tasks[i];
        bool yields = t->phase == TASK_PAUSED && !task_keeps_memory(t);
        for (uint32_t k = 0; yields && k < t->at.n; k++)
            load_add_memory(&sums[t->at.at[k].node], t->job, -1);
    }
    return sums;
}

/* What stopping tasks still hold on the node. */
static struct load sum_stopping(const struct engine *e, const struct node *n)
{
    struct load sum = {0};
    for (size_t i = 0; i < n->tasks.n; i++) {
        const struct task *t = &e->tasks[n->tasks.at[i]];
        units_t held =
            t->phase == TASK_STOPPING ? placement_on(&t->at, (uint32_t)(n - e->cluster.nodes)) : 0;
        if (!held)
            continue;
        load_add_units(&sum, t->job, t->pool, held);
        load_add_memory(&sum, t->job, 1);
    }
    return sum;
}

static int check_nodes(const struct engine *e, const struct plan *plan, struct err *err)
{
    const struct load *sums = add_changes(e, plan);
    for (uint32_t i = 0; i < e->cluster.n; i++) {
        const struct node *n = &e->cluster.nodes[i];
        const struct load *s = &sums[i];
        if (s->cpu <= 0 && s->gpu <= 0 && s->memory <= 0 && !devices_any(&s->devices))
            continue;
        struct load gone = sum_stopping(e, n);
        struct devices held = n->devices_held;
        devices_add(&held, &s->devices, 1);
        devices_add(&held, &gone.devices, -1);
        if ((s->cpu > 0 && n->cpu_held + s->cpu - gone.cpu > n->cpus) ||
            (s->gpu > 0 && n->gpu_held + s->gpu - gone.gpu > n->gpus) ||
            (n->memory_mb && n->memory_held + s->memory - gone.memory > n->memory_mb) ||
            !devices_fit(&held, &n->devices))
            return err_set(err, ERR_INTERNAL, "plan: node %s would hold more than it has", n->name);
    }
    return 0;
}

static int check_order(const struct engine *e, const struct plan *plan, struct err *err)
{
    const struct task_link *links = e->links;
    uint32_t n = plan->order ? e->snapshot.active : 0, tasks = e->tasks_n;
    bool *seen = ARENA_ARRAY(plan->arena, n ? tasks : 0, bool);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t task = plan->order[i];
        if (task >= tasks || links[task].prev == task || seen[task])
            return err_set(err, ERR_INTERNAL,
                           "plan: the order has task %u, which is not active or was there before",
                           task);
        seen[task] = true;
    }
    return 0;
}

static int check_notes(const struct engine *e, const struct plan *plan, struct err *err)
{
    for (uint32_t i = 0; i < plan->nshares; i++) {
        const struct cpu_share *s = &plan->shares[i];
        if (s->task >= e->tasks_n || s->limit < 0 || !(s->weight > 0) || !isfinite(s->weight))
            return err_set(err, ERR_INTERNAL, "plan: a share of limit %lld and weight %g",
                           (long long)s->limit, s->weight);
    }
    for (uint32_t i = 0; i < plan->nmemos; i++) {
        const struct memo_write *w = &plan->memos[i];
        uint32_t n = w->scope == MEMO_TASK ? e->tasks_n : w->scope == MEMO_NODE ? e->cluster.n : 1;
        if (w->index >= n)
            return err_set(err, ERR_INTERNAL, "plan: a memo for number %u, but there are %u",
                           w->index, n);
    }
    for (uint32_t i = 0; i < plan->nlists; i++)
        if (plan->lists[i].task >= e->tasks_n)
            return err_set(err, ERR_INTERNAL, "plan: a list for task %u, which does not exist",
                           plan->lists[i].task);
    for (uint32_t i = 0; i < plan->nmeasured; i++)
        if (plan->measured[i].task >= e->tasks_n || !(plan->measured[i].bandwidth > 0))
            return err_set(err, ERR_INTERNAL,
                           "plan: a measurement of task %u, which does not exist",
                           plan->measured[i].task);
    return 0;
}

/* Pinned tasks continue where they are, and others that must stay do not continue elsewhere. */
static int check_stays(const struct engine *e, const struct plan *plan, struct err *err)
{
    bool any = e->snapshot.npinned || e->snapshot.nkeeping;
    for (size_t i = 0; any && i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        const struct grant *g = plan_grant(plan, e->running.at[i]);
        bool stops = !g || !g->n;
        if (!task_stays(t) || (stops && !t->pinned))
            continue;
        if (stops)
            return err_set(err, ERR_INTERNAL, "plan: job %s must not be preempted", t->job->name);
        if (g->pool != t->pool || (g->moved && task_moves(t, g->n, &g->place)))
            return err_set(err, ERR_INTERNAL, "plan: job %s must not be moved", t->job->name);
    }
    return 0;
}

static int check_ride(const struct engine *e, const struct plan *plan, const struct ride *r,
                      uint8_t *group, struct err *err)
{
    if (r->task >= e->tasks_n || !e->tasks[r->task].job)
        return err_set(err, ERR_INTERNAL, "plan: no task %u to ride", r->task);
    const struct grant *g = plan_grant(plan, r->host);
    const struct job *j = e->tasks[r->task].job, *host = e->tasks[r->host].job;
    struct grant as = {.task = r->task, .pool = g->pool, .n = g->n};
    if (check_size(e, &as, err) < 0)
        return -1;
    if (!job_can_share(j) || !job_can_share(host))
        return err_set(err, ERR_INTERNAL, "plan: jobs %s and %s cannot share units", j->name,
                       host->name);
    if (plan_units(plan, r->task) || group[r->task])
        return err_set(err, ERR_INTERNAL, "plan: job %s is in two places", j->name);
    group[r->task] = SHARING_MOST;
    if (++group[r->host] >= SHARING_MOST)
        return err_set(err, ERR_INTERNAL, "plan: too many jobs on the units of %s", host->name);
    return 0;
}

/* ride_settle() has left only rides whose host is placed. */
static int check_rides(const struct engine *e, const struct plan *plan, struct err *err)
{
    uint8_t *group = ARENA_ARRAY(plan->arena, plan->nrides ? e->tasks_cap : 0, uint8_t);
    for (uint32_t i = 0; i < plan->nrides; i++)
        if (check_ride(e, plan, &plan->rides[i], group, err) < 0)
            return -1;
    return 0;
}

int check_plan(const struct engine *e, const struct plan *plan, struct err *err)
{
    bool changes = plan->n != e->running.n;
    uint32_t *seen = ARENA_ARRAY(plan->arena, e->cluster.n, uint32_t);
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        changes |= g->moved || g->n == 0;
        if (g->n && (check_size(e, g, err) < 0 || check_place(e, g, seen, err) < 0))
            return -1;
    }
    if (changes && check_nodes(e, plan, err) < 0)
        return -1;
    if (check_stays(e, plan, err) < 0 || check_rides(e, plan, err) < 0)
        return -1;
    if (check_order(e, plan, err) < 0)
        return -1;
    return check_notes(e, plan, err);
}
