/* best-fit: jobs whole on the tightest node, and others moved out of the way when
 * that brings more than it costs.
 *
 * 1. In place: running tasks stay; what starts or grows goes to the tightest node
 *    that holds it whole, else over the fewest nodes. If nothing had to be cut
 *    down and nothing spans more nodes than it must, that is the plan.
 * 2. Otherwise tasks are packed anew from empty nodes: by size, the largest first,
 *    each onto the tightest anonymous node that holds it whole, else the emptiest,
 *    and so on; then the nodes get names so that the fewest units move (see
 *    policy/place/repack.c). Only a few nodes are packed at first, then more, up to all
 *    of the pool (see policy/place/regroup.c). No task gets less than in 1.
 * 3. A packing is taken if its gain exceeds its cost, both in units x time. A task
 *    that spans fewer nodes gains `locality` of its remaining time for each; one
 *    that gets more units than in 1, the time by which it ends sooner; one that
 *    would not run, its remaining time. A running task that moves stops for its
 *    job's cost of moving.
 *
 * Running jobs on too many nodes are a reason for 2 as well; but for these alone it
 * is not tried again for `every` when it was in vain.
 *
 * Source: Voda's placement manager: best fit on anonymous nodes, largest job
 * first, then the Hungarian method for the fewest moved workers. Deviations: Voda
 * packs the whole cluster at every decision and makes whatever moves come out; it
 * knows neither memory nor jobs that must stay, nor what a move costs. Two slips: it
 * gives a packed node the name of any other, also of a smaller one, and it books a
 * split job's full size, not its rest, on the last of its nodes.
 *
 * Memo (all): i[0] = 1 + the time when 2 was last in vain for running jobs alone;
 * 0 = never. */
#include "policy/place.h"
#include "policy/place/regroup.h"
#include "policy/policies.h"

enum { LOCALITY, EVERY };

struct changes {
    struct candidate *list;
    uint32_t n;
    bool any;    /* something starts, grows, shrinks or changes its pool */
    bool spread; /* the list has running tasks that do not change */
};

static uint32_t tightest(struct room *r, const struct task *t, unsigned pool, units_t n, void *ctx)
{
    (void)ctx;
    return room_tightest(r, t->job, pool, n);
}

/* Lists the grants that change and, if `look`, running ones on several nodes. */
static struct changes list_changes(const struct snapshot *s, const struct plan *plan, bool look)
{
    struct changes c = {.list = arena_raw(plan->arena, (plan->n + 1) * sizeof *c.list)};
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &s->tasks[g->task];
        bool changes = g->n != t->n || g->pool != t->pool;
        bool spread = look && !changes && t->at.n > 1;
        if (g->n && (changes || spread))
            c.list[c.n++] = (struct candidate){i, g->n};
        c.any |= changes;
        c.spread |= spread;
    }
    return c;
}

static void place_best_fit(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct room room;
    double locality = p->v[LOCALITY].number;
    int64_t vain = s->memo[AXIS_PLACE].i[0];
    bool look = locality > 0 && (!vain || s->now - (vain - 1) >= param_usec(p, EVERY));
    bool better = false;
    struct changes c = list_changes(s, plan, look);
    if (c.n == 0 && !c.any)
        return;
    room_init(&room, s, plan);
    place_grants(&room, plan, tightest, NULL);
    struct regroup r = {s, plan, &room, c.list, c.n, locality};
    for (unsigned pool = 0; pool < s->pools; pool++)
        better |= regroup_pool(&r, pool);
    if (c.spread && !better) {
        struct memo m = {.i = {s->now + 1}};
        plan_remember(plan, AXIS_PLACE, MEMO_ALL, 0, &m);
    }
}

static const struct param params[] = {
    [LOCALITY] = {"locality", PARAM_PERCENT, "5%", 0, 100, NULL,
                  "how much longer a job is assumed to take for each node more; 0 = no job is "
                  "moved for it"},
    [EVERY] = {"every", PARAM_DURATION, "10m", 0, 86400, NULL,
               "after a search in vain, time until jobs that run on too many nodes cause another"},
    {0},
};

const struct policy policy_best_fit = {
    .axis = AXIS_PLACE,
    .name = "best-fit",
    .summary = "the tightest node; others are moved out of the way if that is worth it",
    .rule = "Running jobs stay; a job that starts or grows goes to the tightest node that holds it "
            "whole, else over the fewest nodes.\n\n"
            "When a job had to be cut down for that, or spans more nodes than it must, jobs are "
            "packed anew: by size, the largest first, each onto the tightest of empty, nameless "
            "nodes that holds it whole, else the emptiest, and so on. Then the nodes get their "
            "names by maximum-weight matching, among nodes of equal capacity, so that the fewest "
            "units move. The jobs on a few nodes are packed first, then those on more, up to the "
            "whole pool. Paused jobs and jobs on draining nodes stay, and no job gets less than "
            "before.\n\n"
            "A packing is taken if it gains more than its moves cost, in units x time. For each "
            "node fewer a job gains `locality` of its remaining time; a job that would not run "
            "gains all of it, one that would run on fewer units the difference. For running jobs "
            "on too many nodes alone, it is not tried again for `every` after it was in vain.",
    .source = "Voda's placement manager: best fit, then the Hungarian method for the fewest moves",
    .params = params,
    .decide = place_best_fit,
};
