/* Owns the invariants of a plan: a grant is 0 or an admissible size within the
 * task's bounds, sums stay within every node's units and memory, and a task is
 * where its grant says. A violation is a bug in a policy; it is reported and
 * nothing is clipped. */
#include "engine/internal.h"

static int check_size(const struct engine *e, const struct grant *g, struct err *err)
{
    const struct task *t = &e->tasks[g->task];
    const struct job *j = t->job;
    if (!j || t->phase == TASK_HELD || t->phase == TASK_STOPPING)
        return err_set(err, ERR_INTERNAL, "plan: task %u cannot hold units", g->task);
    if (!job_takes_pool(j, g->pool) || g->pool >= e->snapshot.pools)
        return err_set(err, ERR_INTERNAL, "plan: job %s in pool %u", j->name, g->pool);
    if (g->n < task_min(t) || g->n > task_max(t))
        return err_set(err, ERR_INTERNAL, "plan: job %s gets %lld units, not %lld to %lld", j->name,
                       (long long)g->n, (long long)task_min(t), (long long)task_max(t));
    if (j->kind == JOB_MALLEABLE && g->n != j->min &&
        speed_floor(job_speed(j, g->pool), g->n) != g->n)
        return err_set(err, ERR_INTERNAL, "plan: job %s cannot run on %lld units", j->name,
                       (long long)g->n);
    return 0;
}

static int check_place(const struct engine *e, const struct grant *g, struct err *err)
{
    const struct task *t = &e->tasks[g->task];
    const struct placement *at = g->moved ? &g->place : &t->at;
    units_t sum = 0;
    if (!g->moved && (t->phase != TASK_RUNNING || t->pool != g->pool))
        return err_set(err, ERR_INTERNAL, "plan: job %s has no place", t->job->name);
    for (uint32_t i = 0; i < at->n; i++) {
        if (at->at[i].node >= e->cluster.n || at->at[i].units <= 0)
            return err_set(err, ERR_INTERNAL, "plan: job %s on an impossible node", t->job->name);
        sum += at->at[i].units;
    }
    if (sum != g->n || (t->job->whole && at->n > 1))
        return err_set(err, ERR_INTERNAL, "plan: job %s has %lld units in %u places, not %lld",
                       t->job->name, (long long)sum, at->n, (long long)g->n);
    return 0;
}

struct sums {
    units_t cpu, gpu;
    int64_t memory;
};

static void add_place(struct sums *sums, const struct job *j, unsigned pool,
                      const struct placement *at, int sign, bool memory)
{
    for (uint32_t i = 0; i < at->n; i++) {
        struct sums *s = &sums[at->at[i].node];
        units_t n = sign * at->at[i].units;
        if (pool == POOL_CPU) {
            s->cpu += n;
        } else {
            s->gpu += n;
            s->cpu += n / UNIT * j->cpus;
        }
        if (memory)
            s->memory += sign * j->memory_mb;
    }
}

/* Change of what nodes hold, from grants that move and tasks that lose all. */
static struct sums *add_changes(const struct engine *e, const struct plan *plan, struct arena *a)
{
    struct sums *sums = ARENA_ARRAY(a, e->cluster.n, struct sums);
    for (size_t i = 0; i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        const struct grant *g = plan_grant(plan, e->running.at[i]);
        if (!g || g->n == 0 || g->moved)
            add_place(sums, t->job, t->pool, &t->at, -1, g && g->n ? true : !t->job->can_pause);
    }
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &e->tasks[g->task];
        if (g->n && g->moved)
            add_place(sums, t->job, g->pool, &g->place, 1, t->phase != TASK_PAUSED);
    }
    return sums;
}

int check_plan(const struct engine *e, const struct plan *plan, struct err *err)
{
    bool changes = plan->n != e->running.n;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        changes |= g->moved || g->n == 0;
        if (g->n && (check_size(e, g, err) < 0 || check_place(e, g, err) < 0))
            return -1;
    }
    if (!changes)
        return 0;
    const struct sums *sums = add_changes(e, plan, plan->arena);
    for (uint32_t i = 0; i < e->cluster.n; i++) {
        const struct node *n = &e->cluster.nodes[i];
        const struct sums *s = &sums[i];
        bool grows = s->cpu > 0 || s->gpu > 0;
        if ((s->cpu > 0 && n->cpu_held + s->cpu > n->cpus) ||
            (s->gpu > 0 && n->gpu_held + s->gpu > n->gpus) ||
            (s->memory > 0 && n->memory_mb && n->memory_held + s->memory > n->memory_mb))
            return err_set(err, ERR_INTERNAL, "plan: node %s would hold more than it has", n->name);
        if (grows && n->state == NODE_DOWN)
            return err_set(err, ERR_INTERNAL, "plan: node %s is down", n->name);
    }
    return 0;
}
