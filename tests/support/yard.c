/* Owns hand-made clusters for the tests of placers. They are made with the
 * engine's own tables, so that held units and lists always agree. */
#include "support/yard.h"

#include "engine/check.h"
#include "engine/state.h"
#include "policy/policies.h"
#include "support/test.h"

struct node yard_gpus(units_t gpus, unsigned pool)
{
    return (struct node){.name = "node",
                         .state = NODE_UP,
                         .cpus = 32 * UNIT,
                         .gpus = gpus * UNIT,
                         .gpu_pool = (uint8_t)pool};
}

struct node yard_cpus(units_t cpus, int64_t memory_mb)
{
    return (struct node){
        .name = "node", .state = NODE_UP, .cpus = cpus * UNIT, .memory_mb = memory_mb};
}

void yard_init(struct yard *y, const struct node *nodes, uint32_t n)
{
    static const char *const types[] = {"a", "b"};
    struct engine_config config = {0};
    struct err err;
    struct cluster cluster = {.nodes = (struct node *)nodes, .n = n}; /* it is copied */
    for (uint32_t i = 0; i < n; i++)
        if (nodes[i].gpu_pool)
            cluster.gpu_types[nodes[i].gpu_pool - POOL_GPU] = types[nodes[i].gpu_pool - POOL_GPU];
    *y = (struct yard){0};
    assert_ok(combo_parse("allocate=fifo,place=best-fit", &config.combo, &err), err);
    engine_init(&y->e, &config, &cluster);
    params_default(policy_best_fit.params, &y->params);
}

void yard_done(struct yard *y)
{
    engine_done(&y->e);
    arena_done(&y->arena);
    arena_done(&y->scratch);
}

struct job *yard_job(struct yard *y, unsigned pool, units_t units, struct job like)
{
    struct job *j = ARENA_NEW(&y->arena, struct job);
    struct err err;
    *j = like;
    j->id = y->e.tasks_n;
    j->name = "job";
    j->pool = (uint8_t)pool;
    if (!j->req)
        j->req = units * UNIT;
    j->work = (double)(j->req / UNIT) * YARD_HOUR * USEC_PER_SEC;
    assert_ok(job_normalise(j, &err), err);
    return j;
}

uint32_t yard_add(struct yard *y, unsigned pool, units_t units, struct job like)
{
    return state_add(&y->e, yard_job(y, pool, units, like), 0);
}

uint32_t yard_run_at(struct yard *y, uint32_t task, const struct placement *at)
{
    units_t n = 0;
    for (uint32_t i = 0; i < at->n; i++)
        n += at->at[i].units;
    state_occupy(&y->e, task, y->e.tasks[task].job->pool, at, n);
    state_run(&y->e, task);
    return task;
}

uint32_t yard_run(struct yard *y, uint32_t task, uint32_t node, units_t units)
{
    struct slot slot = {node, units * UNIT};
    return yard_run_at(y, task, &(struct placement){&slot, 1});
}

uint32_t yard_run_split(struct yard *y, uint32_t task, uint32_t node, units_t units, uint32_t node2,
                        units_t units2)
{
    struct slot slots[] = {{node, units * UNIT}, {node2, units2 * UNIT}};
    return yard_run_at(y, task, &(struct placement){slots, 2});
}

void yard_pause(struct yard *y, uint32_t task)
{
    state_rest(&y->e, task);
    state_vacate(&y->e, task, false);
    state_set_phase(&y->e, task, TASK_PAUSED);
}

void yard_begin(struct yard *y, usec_t now)
{
    y->e.snapshot.pools = 0; /* node states may have changed */
    const struct snapshot *s = engine_snapshot(&y->e, now);
    arena_reset(&y->scratch);
    plan_init(&y->plan, s, &y->scratch, true);
    for (uint32_t i = 0; i < s->nrunning; i++) {
        const struct task *t = &s->tasks[s->running[i]];
        plan_give(&y->plan, s->running[i], t->pool, t->n);
    }
}

void yard_give(struct yard *y, uint32_t task, units_t units)
{
    plan_give(&y->plan, task, y->e.tasks[task].job->pool, units * UNIT);
}

void yard_decide(struct yard *y)
{
    struct err err;
    policy_best_fit.decide(&y->e.snapshot, &y->params, &y->plan);
    assert_ok(check_plan(&y->e, &y->plan, &err), err);
}

static const struct placement *place_of(const struct yard *y, const struct grant *g)
{
    return g->moved ? &g->place : &y->e.tasks[g->task].at;
}

units_t yard_on(const struct yard *y, uint32_t task, uint32_t node)
{
    const struct grant *g = plan_grant(&y->plan, task);
    if (!g || g->n == 0)
        return 0;
    const struct placement *at = place_of(y, g);
    for (uint32_t i = 0; i < at->n; i++)
        if (at->at[i].node == node)
            return at->at[i].units / UNIT;
    return 0;
}

bool yard_stays(const struct yard *y, uint32_t task)
{
    return !plan_grant(&y->plan, task)->moved;
}

uint32_t yard_span(const struct yard *y, uint32_t task)
{
    return place_of(y, plan_grant(&y->plan, task))->n;
}

uint32_t yard_moves(const struct yard *y, units_t *units)
{
    uint32_t moves = 0;
    *units = 0;
    for (uint32_t i = 0; i < y->plan.n; i++) {
        const struct grant *g = &y->plan.grants[i];
        const struct task *t = &y->e.tasks[g->task];
        units_t gone = 0;
        for (uint32_t k = 0; g->n && k < t->at.n; k++) {
            units_t left = t->at.at[k].units / UNIT - yard_on(y, g->task, t->at.at[k].node);
            gone += left > 0 ? left : 0;
        }
        moves += gone > 0;
        *units += gone;
    }
    return moves;
}
