/* first-fit: nodes in name order; a job goes to the first that holds it whole,
 * else it is split over the fewest nodes.
 *
 * Source: Schedulearn's FIFO scheduler, which walks its servers in order. */
#include "policy/place.h"
#include "policy/policies.h"

static uint32_t first(struct room *r, const struct task *t, unsigned pool, units_t n, void *ctx)
{
    (void)ctx;
    return room_first(r, t->job, pool, n, 0);
}

static void place_first_fit(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    place_in_place(s, plan, first, NULL);
}

const struct policy policy_first_fit = {
    .axis = AXIS_PLACE,
    .name = "first-fit",
    .summary = "the first node that holds the job whole, else the fewest nodes",
    .rule = "Nodes are tried in name order. A job goes to the first one with room for all its "
            "units. When no node has, it is split, the emptiest node first, so that it spans the "
            "fewest nodes. Running jobs stay where they are.",
    .source = "Schedulearn (Setyawan Raya), FIFO scheduler",
    .decide = place_first_fit,
};
