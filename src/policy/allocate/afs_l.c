/* afs-l: minima in order of remaining work; then each further unit to the winner of a
 * tournament, in which a short job competes with a longer job that makes better use of the
 * unit.
 *
 * Of two jobs let a be the one with the smaller rem/S(n), and b the other. b wins if
 *
 *   (S_b(n_b+1) - S_b(n_b)) / S_b(n_b+1) > (S_a(n_a+1) - S_a(n_a)) / S_a(n_a)
 *
 * and a otherwise. The tournament is a tree over the jobs in order of remaining work, so a
 * unit costs one match per level, not one per job.
 *
 * Source: Hwang et al., "Elastic resource sharing for distributed deep learning" (NSDI'21).
 * Deviation from Voda's code, which by mistake measures b's length at a's allocation. If
 * sizes have gaps, the gain of a step is taken per unit, and a step goes to the size for which
 * that is largest: a dip in a measured curve does not end the growth of a job. */
#include "policy/elastic.h"
#include "policy/policies.h"

struct player {
    double length;    /* rem/S(n) */
    double win, hold; /* the two sides of the rule */
    units_t to;       /* the size that it plays for */
    uint32_t task;    /* TASK_NONE = can take no more */
};

static struct player player_of(const struct budget *b, const struct plan *plan, uint32_t task)
{
    const struct snapshot *s = b->s;
    const struct grant *g = plan_grant(plan, task);
    if (!g)
        return (struct player){.task = TASK_NONE};
    struct elastic_step step = elastic_best_step(b, plan, task, elastic_speedup_gain);
    if (!step.to)
        return (struct player){.task = TASK_NONE};
    const struct speed *speed = job_speed(s->tasks[task].job, g->pool);
    double now = speed_at(speed, g->n), then = speed_at(speed, step.to);
    return (struct player){.length = task_remaining(&s->tasks[task], s->now) / now,
                           .win = step.gain / then,
                           .hold = step.gain / now,
                           .to = step.to,
                           .task = task};
}

/* x comes before y in the order. */
static uint32_t match(const struct player *players, uint32_t x, uint32_t y)
{
    const struct player *p = &players[x], *q = &players[y];
    if (p->task == TASK_NONE || q->task == TASK_NONE)
        return p->task == TASK_NONE ? y : x;
    bool shorter = p->length <= q->length;
    const struct player *a = shorter ? p : q, *b = shorter ? q : p;
    return (b->win > a->hold) == shorter ? y : x;
}

struct tree {
    struct player *players; /* the leaves, padded with players that can take nothing */
    uint32_t *winner;       /* of each subtree; winner[1] = of all */
    uint32_t leaves;
};

static void tree_replay(struct tree *t, uint32_t i)
{
    for (i = (t->leaves + i) / 2; i > 0; i /= 2)
        t->winner[i] = match(t->players, t->winner[2 * i], t->winner[2 * i + 1]);
}

static void tree_init(struct tree *t, const struct budget *b, const struct plan *plan,
                      const uint32_t *order, uint32_t n)
{
    for (t->leaves = 1; t->leaves < n;)
        t->leaves *= 2;
    t->players = arena_raw(b->arena, t->leaves * sizeof *t->players);
    t->winner = arena_raw(b->arena, (size_t)2 * t->leaves * sizeof *t->winner);
    for (uint32_t i = 0; i < t->leaves; i++) {
        t->players[i] = i < n ? player_of(b, plan, order[i]) : (struct player){.task = TASK_NONE};
        t->winner[t->leaves + i] = i;
    }
    for (uint32_t i = t->leaves; i-- > 1;)
        t->winner[i] = match(t->players, t->winner[2 * i], t->winner[2 * i + 1]);
}

static void allocate_afs_l(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    struct budget b;
    elastic_minima_shortest_first(&b, s, plan);

    struct tree t;
    tree_init(&t, &b, plan, plan->order, s->active);
    for (;;) {
        uint32_t i = t.winner[1];
        uint32_t task = t.players[i].task;
        if (task == TASK_NONE)
            return;
        struct grant *g = plan_grant(plan, task);
        if (budget_grow(&b, task, g->pool, g->n, t.players[i].to))
            g->n = t.players[i].to;
        else /* it plays on for a size for which enough is left */
            plan_deny(plan, task, WHY_NO_ROOM, TASK_NONE);
        t.players[i] = player_of(&b, plan, task);
        tree_replay(&t, i);
    }
}

const struct policy policy_afs_l = {
    .axis = AXIS_ALLOCATE,
    .name = "afs-l",
    .summary = "short jobs first, unless a longer one makes better use of the unit",
    .rule = "Every job gets its minimum, shortest remaining first. Each further unit goes to the "
            "winner of a tournament: of two jobs let a be the one with the smaller rem/S(n); b "
            "wins if (S_b(n+1)-S_b(n))/S_b(n+1) > (S_a(n+1)-S_a(n))/S_a(n), else a. It stops when "
            "no unit makes anyone faster.",
    .source = "Hwang et al., AFS (NSDI'21), AFS-L",
    .weighs_sizes = true,
    .decide = allocate_afs_l,
};
