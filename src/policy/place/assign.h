/* Maximum-weight matching of n left things with n right things, where most pairs weigh 0: it
 * names the anonymous nodes in policy/place/repack.h. */
#ifndef POLICY_PLACE_ASSIGN_H
#define POLICY_PLACE_ASSIGN_H

#include <stdint.h>

#include "base/mem.h"

#define ASSIGN_NONE UINT32_MAX

struct assign_edge {
    uint32_t right;
    int64_t weight; /* above 0 */
};

/* The edges of left i are edges[first[i]] to edges[first[i + 1] - 1], each right
 * at most once. Pairs without an edge weigh 0. */
struct assign_graph {
    uint32_t n;
    const uint32_t *first; /* n + 1 of them */
    const struct assign_edge *edges;
};

/* Sets right_of[left] so that the sum of weights is as large as possible; ASSIGN_NONE for a
 * left whose partner adds nothing. Returns the sum. The same graph always gives the same
 * result. Scratch memory comes from the arena. */
int64_t assign_solve(const struct assign_graph *g, uint32_t *right_of, struct arena *a);

#endif
