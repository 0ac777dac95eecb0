/* Owns what happens when a plan needs units or memory that tasks still hold.
 *
 * A paused task keeps its memory and its devices only while nobody needs them, unless it could
 * not restart: placers count them as free. Which paused tasks have to give them up is decided here,
 * the last in the order first.
 *
 * If stops take time, a grant that needs what a stopping task still holds waits for the
 * next decision, which EVENT_STOPPED causes. So does a grant that needs the place of one
 * that waits. */
#include "engine/yield.h"

#include "engine/load.h"

static bool load_fits(const struct load *l, const struct node *n)
{
    return l->cpu <= n->cpus && l->gpu <= n->gpus && (!n->memory_mb || l->memory <= n->memory_mb) &&
           devices_fit(&l->devices, &n->devices);
}

/* Moves the task of a grant from its old places to the new ones (sign 1), or back (-1). */
static void load_move(struct load *load, const struct engine *e, const struct grant *g, int sign)
{
    const struct task *t = &e->tasks[g->task];
    if (task_running(t))
        load_add_place(load, t->job, t->pool, &t->at, -sign, true);
    load_add_place(load, t->job, g->pool, &g->place, sign, t->phase != TASK_PAUSED);
}

static bool moves(const struct grant *g)
{
    return g->n && g->moved;
}

/* What nodes would hold after all moves if no task stopped. */
static struct load *load_moved(struct engine *e, const struct plan *plan)
{
    struct load *load = arena_raw(&e->arena, e->cluster.n * sizeof *load);
    for (uint32_t i = 0; i < e->cluster.n; i++) {
        const struct node *n = &e->cluster.nodes[i];
        load[i] = (struct load){n->cpu_held, n->gpu_held, n->memory_held, n->devices_held};
    }
    for (uint32_t i = 0; i < plan->n; i++)
        if (moves(&plan->grants[i]))
            load_move(load, e, &plan->grants[i], 1);
    return load;
}

static bool loses_all(const struct plan *plan, uint32_t task)
{
    const struct grant *g = plan_grant(plan, task);
    return !g || !g->n;
}

/* Whether any task would hold memory without units. */
static bool any_pause(const struct engine *e, const struct plan *plan)
{
    if (e->snapshot.npaused)
        return true;
    for (size_t i = 0; i < e->running.n; i++)
        if (e->tasks[e->running.at[i]].job->can_pause && loses_all(plan, e->running.at[i]))
            return true;
    return false;
}

static bool is_crowded(const struct engine *e, const struct load *load, const struct placement *at)
{
    for (uint32_t i = 0; i < at->n; i++) {
        const struct node *n = &e->cluster.nodes[at->at[i].node];
        const struct load *l = &load[at->at[i].node];
        if ((n->memory_mb && l->memory > n->memory_mb) || !devices_fit(&l->devices, &n->devices))
            return true;
    }
    return false;
}

const bool *yield_memory(struct engine *e, const struct plan *plan)
{
    bool *yields = NULL;
    if (!any_pause(e, plan))
        return NULL;
    struct load *load = load_moved(e, plan);
    for (size_t i = 0; i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        if (loses_all(plan, e->running.at[i]))
            load_add_place(load, t->job, t->pool, &t->at, -1, !t->job->can_pause);
    }
    for (uint32_t i = e->snapshot.last; i != TASK_NONE; i = e->links[i].prev) {
        const struct task *t = &e->tasks[i];
        bool keeps = t->phase == TASK_PAUSED || (task_running(t) && t->job->can_pause);
        if (!keeps || task_keeps_memory(t) || !loses_all(plan, i) || !is_crowded(e, load, &t->at))
            continue;
        if (!yields)
            yields = ARENA_ARRAY(&e->arena, e->tasks_cap, bool);
        yields[i] = true;
        for (uint32_t k = 0; k < t->at.n; k++)
            load_add_memory(&load[t->at.at[k].node], t->job, -1);
    }
    return yields;
}

/* Whether the grant needs a node that has no room for it yet. */
static bool overfills(const struct engine *e, const struct load *load, const struct grant *g)
{
    for (uint32_t i = 0; i < g->place.n; i++)
        if (!load_fits(&load[g->place.at[i].node], &e->cluster.nodes[g->place.at[i].node]))
            return true;
    return false;
}

const bool *yield_wait(struct engine *e, const struct plan *plan, const bool *yields)
{
    bool *waits = NULL;
    struct load *load = load_moved(e, plan);
    for (size_t i = 0; i < e->running.n; i++) { /* freezing takes no time */
        uint32_t task = e->running.at[i];
        const struct task *t = &e->tasks[task];
        if (loses_all(plan, task) && t->job->can_pause && !(yields && yields[task]))
            load_add_place(load, t->job, t->pool, &t->at, -1, false);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = plan->n; i-- > 0;) {
            const struct grant *g = &plan->grants[i];
            if (!moves(g) || (waits && waits[i]) || !overfills(e, load, g))
                continue;
            if (!waits)
                waits = ARENA_ARRAY(&e->arena, plan->n, bool);
            waits[i] = changed = true;
            load_move(load, e, g, -1);
        }
    }
    return waits;
}
