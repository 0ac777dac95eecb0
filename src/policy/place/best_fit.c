/* best-fit: jobs go to the tightest node, and others are moved to make room if that brings
 * more than it costs.
 *
 * 1. In place: running tasks stay. A task that starts or grows goes to the tightest node that
 *    holds all of it, otherwise to as few nodes as possible. If no task had to be cut down and
 *    none spans more nodes than necessary, that is the plan.
 * 2. Otherwise tasks are packed as if their nodes were empty and had no names: by size, the
 *    largest first, each onto the tightest node that holds all of it, otherwise the emptiest,
 *    and so on. Then the nodes get names so that the fewest units move (repack.c). At first
 *    only a few nodes are packed, then more, up to all of the pool (regroup.c). No task gets
 *    less than in 1.
 * 3. A packing is used if its gain exceeds its cost, both in units x time. A task that spans
 *    fewer nodes gains `locality` of its remaining time for each; one that gets more units
 *    than in 1 gains the time by which it ends sooner; one that would not run gains its
 *    remaining time. A running task that moves loses its job's cost of moving.
 *
 * Jobs that run on too many nodes cause 2 as well. If that fails for such jobs alone, they do
 * not cause it again for `every`.
 *
 * Source: Voda's placement manager: best fit on anonymous nodes, largest job first, then the
 * Hungarian method for the fewest moved workers. Deviations: Voda packs the whole cluster at
 * every decision and makes all moves that result; it does not consider memory, jobs that must
 * stay, or the cost of moves. It also has two mistakes: a packed node may get the name of any
 * other one, even a smaller one; and the full size of a split job, not the rest, is booked on
 * the last of its nodes.
 *
 * Memo (all): i[0] = 1 + the time when 2 last failed for running jobs alone; 0 = never. */
#include "policy/place.h"
#include "policy/place/regroup.h"
#include "policy/policies.h"

enum { LOCALITY, EVERY };

struct changes {
    struct candidate *list;
    uint32_t n;
    bool any;    /* some task starts, grows, shrinks or changes its pool */
    bool spread; /* the list has running tasks that do not change */
};

static uint32_t tightest(struct room *r, const struct task *t, unsigned pool, units_t n, void *ctx)
{
    (void)ctx;
    return room_tightest(r, t->job, pool, n);
}

/* Lists the grants that change and, if `look`, running tasks on several nodes. */
static struct changes list_changes(const struct snapshot *s, const struct plan *plan, bool look)
{
    struct changes c = {.list = arena_raw(plan->arena, (plan->n + 1) * sizeof *c.list)};
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &s->tasks[g->task];
        bool changes = g->n != t->n || g->pool != t->pool;
        bool spread = look && !changes && t->at.n > 1 && !t->job->worker;
        if (g->n && (changes || spread) && !t->job->worker)
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
    int64_t failed = s->memo[AXIS_PLACE].i[0];
    bool look = locality > 0 && (!failed || s->now - (failed - 1) >= param_usec(p, EVERY));
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
                  "how much longer a job is assumed to take on each further node; 0 = no job is "
                  "moved for that"},
    [EVERY] =
        {"every", PARAM_DURATION, "10m", 0, 86400, NULL,
         "after a search that failed, time until jobs that run on too many nodes cause another"},
    {0},
};

const struct policy policy_best_fit = {
    .axis = AXIS_PLACE,
    .name = "best-fit",
    .summary = "the tightest node; other jobs are moved to make room if it pays",
    .rule =
        "Running jobs stay. A job that starts or grows goes to the tightest node that holds all "
        "of it, otherwise to as few nodes as possible.\n\n"
        "If a job had to be cut down for lack of room, or spans more nodes than necessary, jobs "
        "are packed as if their nodes were empty and had no names: by size, the largest first, "
        "each onto the tightest node that holds all of it, otherwise the emptiest, and so on. "
        "Then the nodes get their names by maximum-weight matching, among nodes with equal room, "
        "so that the fewest units move. At first only badly placed jobs are packed, then those on "
        "a few nodes, up to the whole pool. Paused jobs, jobs that must not be preempted and jobs "
        "on draining nodes stay, and no job gets less than before.\n\n"
        "A packing is used if it gains more than its moves cost, in units x time. For each node "
        "that a job no longer needs, it gains `locality` of its remaining time; a job that would "
        "not run gains all of it; one that would run on fewer units gains the difference. If a "
        "search fails for jobs that run on too many nodes, they do not cause another one for "
        "`every`.",
    .source = "Voda's placement manager: best fit, then the Hungarian method for the fewest moves",
    .params = params,
    .decide = place_best_fit,
};
