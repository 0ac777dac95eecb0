/* first-fit: a job goes to the first node, by name, that holds all of it; if there is none, it
 * is split over as few nodes as possible.
 *
 * Source: Schedulearn's FIFO scheduler, which tries its servers in order. */
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
    .summary = "the first node that holds the job, otherwise as few nodes as possible",
    .rule =
        "Nodes are tried in the order of their names. A job goes to the first one with room for "
        "all its units. If no node has enough, the job is split, the emptiest node first, so that "
        "it spans as few nodes as possible. Running jobs stay where they are.",
    .source = "Schedulearn (Setyawan Raya), FIFO scheduler",
    .decide = place_first_fit,
};
