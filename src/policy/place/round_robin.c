/* round-robin: each job goes to the node after the last one used; nodes without room are
 * skipped.
 *
 * Source: Schedulearn's Round Robin scheduler. Deviation: its own code crashes when the next
 * server has no room; here that server is skipped.
 *
 * Memo (all): i[0] = the node after the last one used. */
#include "policy/place.h"
#include "policy/policies.h"

static uint32_t next_in_turn(struct room *r, const struct task *t, unsigned pool, units_t n,
                             void *ctx)
{
    struct memo *turn = ctx;
    uint32_t from = (uint32_t)turn->i[0] % r->s->cluster->n;
    uint32_t node = room_first(r, t->job, pool, n, from);
    if (node == TASK_NONE)
        node = room_first(r, t->job, pool, n, 0);
    if (node != TASK_NONE)
        turn->i[0] = (node + 1) % r->s->cluster->n;
    return node;
}

static void place_round_robin(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    struct memo turn = s->memo[AXIS_PLACE];
    place_in_place(s, plan, next_in_turn, &turn);
    plan_remember(plan, AXIS_PLACE, MEMO_ALL, 0, &turn);
}

const struct policy policy_round_robin = {
    .axis = AXIS_PLACE,
    .name = "round-robin",
    .summary = "the node after the last one used, skipping those without room",
    .rule = "Nodes take turns. A job goes to the node after the one that got the last job; nodes "
            "without room for all of it are skipped. If no node has room, the job is split over as "
            "few nodes as possible, and the turn does not pass.",
    .source = "Schedulearn (Setyawan Raya), Round Robin scheduler",
    .decide = place_round_robin,
};
