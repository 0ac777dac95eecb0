/* Owns pairing. Things of the same type are alike, so pairs are counted by the types of their two
 * halves. The heaviest pairs of types are taken first, then pairs exchange halves as long as that
 * increases the sum. An exact matching (Edmonds' blossoms) would gain little: with few types most
 * pairs weigh the same, and the weights are estimates. */
#include "policy/allocate/pairing.h"

#include <stdbool.h>

enum { PASSES = 16 }; /* of exchanges; one without any ends it earlier */

/* So many pairs of these types. The type `types` is nobody: its partner is alone. */
struct kind {
    uint32_t a, b, n;
};

struct pairing {
    const float *w;
    uint32_t types;
    struct kind *kinds; /* by a and b, a >= b */
};

static float weight(const struct pairing *p, uint32_t a, uint32_t b)
{
    return a == p->types || b == p->types ? 0 : p->w[(size_t)a * p->types + b];
}

static struct kind *kind_of(const struct pairing *p, uint32_t a, uint32_t b)
{
    return a >= b ? &p->kinds[(size_t)a * (a + 1) / 2 + b] : &p->kinds[(size_t)b * (b + 1) / 2 + a];
}

/* Takes the heaviest pairs of types while there are things left of both. */
static void take_heaviest(struct pairing *p, uint32_t *left)
{
    for (;;) {
        struct kind *best = NULL;
        float most = 0;
        for (uint32_t a = 0; a < p->types; a++)
            for (uint32_t b = 0; b <= a; b++)
                if (left[a] && left[b] > (a == b) && weight(p, a, b) > most) {
                    most = weight(p, a, b);
                    best = kind_of(p, a, b);
                }
        if (!best)
            break;
        uint32_t n = best->a == best->b              ? left[best->a] / 2
                     : left[best->a] < left[best->b] ? left[best->a]
                                                     : left[best->b];
        best->n += n;
        left[best->a] -= n;
        left[best->b] -= n;
    }
    for (uint32_t a = 0; a < p->types; a++)
        kind_of(p, p->types, a)->n = left[a];
}

/* Puts n pairs into this kind; those that cannot be paired are alone. */
static void put(struct pairing *p, uint32_t a, uint32_t b, uint32_t n)
{
    if (a == p->types && b == p->types)
        return;
    if (a != p->types && b != p->types && !(weight(p, a, b) > 0)) {
        kind_of(p, a, p->types)->n += n;
        kind_of(p, b, p->types)->n += n;
        return;
    }
    kind_of(p, a, b)->n += n;
}

/* Exchanges halves between pairs of the two kinds, if that is better. */
static bool exchange(struct pairing *p, struct kind *x, struct kind *y)
{
    const float enough = 1e-6F;
    uint32_t n = x == y ? x->n / 2 : x->n < y->n ? x->n : y->n;
    float now = weight(p, x->a, x->b) + weight(p, y->a, y->b) + enough;
    float straight = weight(p, x->a, y->a) + weight(p, x->b, y->b);
    float crossed = weight(p, x->a, y->b) + weight(p, x->b, y->a);
    if (!n || (straight <= now && crossed <= now))
        return false;
    uint32_t xa = x->a, xb = x->b, ya = y->a, yb = y->b;
    x->n -= n;
    y->n -= n;
    put(p, xa, straight >= crossed ? ya : yb, n);
    put(p, xb, straight >= crossed ? yb : ya, n);
    return true;
}

static bool exchange_all(struct pairing *p, uint32_t kinds)
{
    bool any = false;
    for (uint32_t i = 0; i < kinds; i++)
        for (uint32_t k = i; p->kinds[i].n && k < kinds; k++)
            if (p->kinds[k].n)
                any |= exchange(p, &p->kinds[i], &p->kinds[k]);
    return any;
}

/* The heaviest kind with a pair left for this type. */
static struct kind *next_kind(const struct pairing *p, uint32_t type)
{
    struct kind *best = kind_of(p, p->types, type);
    float most = -1;
    for (uint32_t b = 0; b <= p->types; b++)
        if (kind_of(p, type, b)->n && weight(p, type, b) > most) {
            most = weight(p, type, b);
            best = kind_of(p, type, b);
        }
    return best;
}

/* Gives each thing a partner, in their order. */
static uint32_t *assign(const struct pairing *p, const uint32_t *type, uint32_t n, struct arena *a)
{
    uint32_t *mate = arena_raw(a, ((size_t)n + 1) * sizeof *mate);
    bool *done = ARENA_ARRAY(a, n, bool);
    for (uint32_t i = 0; i < n; i++) {
        if (done[i])
            continue;
        struct kind *k = next_kind(p, type[i]);
        uint32_t other = k->a == type[i] ? k->b : k->a, with = i + 1;
        done[i] = true;
        k->n--;
        mate[i] = PAIRING_ALONE;
        while (other != p->types && (done[with] || type[with] != other))
            with++;
        if (other == p->types)
            continue;
        done[with] = true;
        mate[i] = with;
        mate[with] = i;
    }
    return mate;
}

uint32_t *pairing_find(const uint32_t *type, uint32_t n, const float *w, uint32_t types,
                       struct arena *a)
{
    uint32_t kinds = (types + 1) * (types + 2) / 2, *left = ARENA_ARRAY(a, types + 1, uint32_t);
    struct pairing p = {w, types, ARENA_ARRAY(a, kinds, struct kind)};
    for (uint32_t i = 0; i <= types; i++)
        for (uint32_t k = 0; k <= i; k++)
            *kind_of(&p, i, k) = (struct kind){i, k, 0};
    for (uint32_t i = 0; i < n; i++)
        left[type[i]]++;
    take_heaviest(&p, left);
    for (int pass = 0; pass < PASSES && exchange_all(&p, kinds); pass++)
        ;
    return assign(&p, type, n, a);
}
