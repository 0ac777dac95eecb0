/* Owns which running tasks a decision leaves alone, whatever the policy says.
 *
 * - A task whose job must not be preempted (pinned).
 * - A task that was preempted before: it runs for `min_run` before it is again (pinned until
 *   then). Otherwise a busy queue could preempt it over and over, and it would do little but
 *   restart.
 * - A task that would lose its work if it were stopped (no_restart). It is frozen where it is,
 *   with its memory, which nobody else is given. If its memory is in the way, those that need
 *   it cannot be placed. Then its units are of no use to them, and it keeps them. */
#include "engine/protect.h"

#include "engine/load.h"
#include "engine/state.h"

static bool is_recent(const struct engine *e, const struct task *t, usec_t now)
{
    return t->preemptions && now - t->resumed_at < e->config.min_run;
}

void protect_recent(struct engine *e, usec_t now)
{
    for (size_t i = 0; e->config.min_run && i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        state_pin(e, e->running.at[i], t->job->no_preempt || is_recent(e, t, now));
    }
}

/* Allocators serve pinned tasks first, but their rules may still leave one out. Nobody else can
 * be there: placers count what it holds as taken. */
void protect_pinned(const struct engine *e, struct plan *plan, usec_t now)
{
    bool waiting = e->snapshot.active > e->running.n;
    for (size_t i = 0; e->snapshot.npinned && i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        if (!t->pinned)
            continue;
        if (plan_units(plan, e->running.at[i]) < task_min(t))
            plan_give(plan, e->running.at[i], t->pool, task_min(t));
        if (waiting && is_recent(e, t, now))
            plan_wake(plan, t->resumed_at + e->config.min_run);
    }
}

/* What nodes hold after the plan, without tasks that it stops or freezes. */
static struct load *load_after(struct engine *e, const struct plan *plan)
{
    struct load *load = arena_raw(&e->arena, e->cluster.n * sizeof *load);
    for (uint32_t i = 0; i < e->cluster.n; i++)
        load[i] =
            (struct load){.cpu = e->cluster.nodes[i].cpu_held, .gpu = e->cluster.nodes[i].gpu_held};
    for (size_t i = 0; i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        const struct grant *g = plan_grant(plan, e->running.at[i]);
        if (!g || !g->n || g->moved)
            load_add_place(load, t->job, t->pool, &t->at, -1, false);
    }
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        if (g->n && g->moved)
            load_add_place(load, e->tasks[g->task].job, g->pool, &g->place, 1, false);
    }
    return load;
}

/* Whether the task still fits where it is. */
static bool is_unused(const struct engine *e, const struct load *load, const struct task *t)
{
    for (uint32_t i = 0; i < t->at.n; i++) {
        const struct node *n = &e->cluster.nodes[t->at.at[i].node];
        struct load sum = load[t->at.at[i].node];
        load_add_units(&sum, t->job, t->pool, t->at.at[i].units);
        if (sum.cpu > n->cpus || sum.gpu > n->gpus)
            return false;
    }
    return true;
}

void protect_unused(struct engine *e, struct plan *plan)
{
    struct load *load = NULL;
    for (uint32_t i = e->snapshot.nkeeping ? e->snapshot.first : TASK_NONE; i != TASK_NONE;
         i = e->links[i].next) {
        const struct task *t = &e->tasks[i];
        if (!task_running(t) || !t->job->no_restart || plan_units(plan, i) || !task_keeps_size(t) ||
            t->n > task_max(t))
            continue;
        if (!load)
            load = load_after(e, plan);
        if (!is_unused(e, load, t))
            continue;
        load_add_place(load, t->job, t->pool, &t->at, 1, false);
        plan_give(plan, i, t->pool, t->n);
        plan_grant(plan, i)->moved = false;
    }
}
