/* Owns the maximum-weight matching: successive shortest augmenting paths with
 * prices (the primal-dual method of Kuhn and Munkres), on a sparse graph.
 *
 * A left may also stay single, with weight 0, as if it had a right of its own that no other
 * left can have. So the lefts are matched one after the other, and none has to be given up.
 * Invariants between two lefts: own[l] + price[r] >= weight on every edge, with equality on
 * matched edges; price is 0 on free rights, own is 0 on single lefts. They imply that the
 * matching of the lefts so far has the largest possible weight, and that the slack own +
 * price - weight is a length which Dijkstra's method can use. Weights are whole numbers:
 * nothing is rounded.
 *
 * Most lefts find a free right among their best ones at once and cost nothing more. Ties: the
 * first edge of a left; in the search, the lower left.
 *
 * Source: Kuhn, "The Hungarian method for the assignment problem" (1955);
 * Jonker and Volgenant, "A shortest augmenting path algorithm" (1987). */
#include "policy/place/assign.h"

#include <stdbool.h>

#include "base/heap.h"

struct search {
    const struct assign_graph *g;
    uint32_t *right_of, *left_of;
    int64_t *own, *price;
    /* For the search from one root: */
    uint32_t *seen; /* lefts whose distance is known, in any order */
    uint32_t nseen;
    int64_t *distance; /* -1 = not seen */
    uint32_t *parent;  /* the left from which it was reached */
    struct heap open;
};

/* The end of the shortest path so far: `left` takes `right`, which is free, or stays single. */
struct path_end {
    int64_t distance;
    uint32_t left, right;
};

static void search_init(struct search *s, const struct assign_graph *g, uint32_t *right_of,
                        struct arena *a)
{
    uint32_t n = g->n;
    *s = (struct search){.g = g, .right_of = right_of};
    s->left_of = arena_raw(a, n * sizeof *s->left_of);
    memset(s->left_of, 0xff, n * sizeof *s->left_of);
    memset(s->right_of, 0xff, n * sizeof *s->right_of);
    s->own = ARENA_ARRAY(a, n, int64_t);
    s->price = ARENA_ARRAY(a, n, int64_t);
    s->seen = ARENA_ARRAY(a, n, uint32_t);
    s->distance = arena_raw(a, n * sizeof *s->distance);
    memset(s->distance, 0xff, n * sizeof *s->distance);
    s->parent = ARENA_ARRAY(a, n, uint32_t);
    /* Large enough that the heap never allocates memory itself. */
    s->open = (struct heap){.cap = n, .ids = n};
    s->open.at = ARENA_ARRAY(a, n, struct heap_entry);
    s->open.where = ARENA_ARRAY(a, n, uint32_t);
}

/* Sets own[] to the best weight and takes the first free right that has it. */
static bool match_at_once(struct search *s, uint32_t left)
{
    const struct assign_edge *from = s->g->edges + s->g->first[left];
    const struct assign_edge *to = s->g->edges + s->g->first[left + 1];
    for (const struct assign_edge *e = from; e < to; e++)
        if (e->weight > s->own[left])
            s->own[left] = e->weight;
    for (const struct assign_edge *e = from; e < to; e++)
        if (e->weight == s->own[left] && s->left_of[e->right] == ASSIGN_NONE) {
            s->right_of[left] = e->right;
            s->left_of[e->right] = left;
            return true;
        }
    return from == to;
}

static void reach(struct search *s, uint32_t left, uint32_t parent, int64_t distance)
{
    if (s->distance[left] >= 0 && s->distance[left] <= distance)
        return;
    if (s->distance[left] < 0)
        s->seen[s->nseen++] = left;
    s->distance[left] = distance;
    s->parent[left] = parent;
    heap_set(&s->open, left, distance);
}

/* Continues from a left whose distance is final. */
static void expand(struct search *s, uint32_t left, struct path_end *end)
{
    int64_t here = s->distance[left];
    if (here + s->own[left] < end->distance)
        *end = (struct path_end){here + s->own[left], left, ASSIGN_NONE};
    for (uint32_t i = s->g->first[left]; i < s->g->first[left + 1]; i++) {
        const struct assign_edge *e = &s->g->edges[i];
        int64_t there = here + s->own[left] + s->price[e->right] - e->weight;
        if (there >= end->distance)
            continue;
        if (s->left_of[e->right] == ASSIGN_NONE)
            *end = (struct path_end){there, left, e->right};
        else
            reach(s, s->left_of[e->right], left, there);
    }
}

/* Restores the invariants: lowers what is nearer than the end. */
static void adjust_prices(struct search *s, int64_t distance)
{
    for (uint32_t i = 0; i < s->nseen; i++) {
        uint32_t left = s->seen[i];
        int64_t nearer = distance - s->distance[left];
        s->distance[left] = -1;
        if (nearer <= 0)
            continue;
        s->own[left] -= nearer;
        if (s->right_of[left] != ASSIGN_NONE)
            s->price[s->right_of[left]] += nearer;
    }
    s->nseen = 0;
    while (s->open.n)
        heap_remove(&s->open, s->open.at[s->open.n - 1].id);
}

static void match_by_path(struct search *s, uint32_t root)
{
    struct path_end end = {INT64_MAX, root, ASSIGN_NONE};
    reach(s, root, root, 0);
    while (s->open.n && heap_top(&s->open).key < end.distance)
        expand(s, heap_pop(&s->open).id, &end);
    adjust_prices(s, end.distance);
    for (uint32_t left = end.left, right = end.right;; left = s->parent[left]) {
        uint32_t next = s->right_of[left];
        s->right_of[left] = right;
        if (right != ASSIGN_NONE)
            s->left_of[right] = left;
        if (left == root)
            return;
        right = next;
    }
}

int64_t assign_solve(const struct assign_graph *g, uint32_t *right_of, struct arena *a)
{
    struct search s;
    search_init(&s, g, right_of, a);
    uint32_t *rest = ARENA_ARRAY(a, g->n, uint32_t), nrest = 0;
    for (uint32_t left = 0; left < g->n; left++)
        if (!match_at_once(&s, left))
            rest[nrest++] = left;
    for (uint32_t i = 0; i < nrest; i++)
        match_by_path(&s, rest[i]);
    /* By the invariants the prices have the same sum as the matched weights. */
    int64_t sum = 0;
    for (uint32_t i = 0; i < g->n; i++)
        sum += s.own[i] + s.price[i];
    return sum;
}
