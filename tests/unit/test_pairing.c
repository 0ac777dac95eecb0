/* Tests of pairing: against every matching of small sets, and by hand. */
#include "base/rng.h"
#include "policy/allocate/pairing.h"
#include "support/test.h"

enum { TYPES_MOST = 4, THINGS_MOST = 8 };

struct problem {
    uint32_t type[THINGS_MOST], n, types;
    float w[TYPES_MOST * TYPES_MOST];
};

static float weight(const struct problem *p, uint32_t a, uint32_t b)
{
    return p->w[p->type[a] * p->types + p->type[b]];
}

/* The largest sum over all matchings of those that are not done yet. */
static float best(const struct problem *p, unsigned done)
{
    uint32_t i = 0;
    while (i < p->n && done >> i & 1)
        i++;
    if (i == p->n)
        return 0;
    float most = best(p, done | 1U << i);
    for (uint32_t k = i + 1; k < p->n; k++)
        if (!(done >> k & 1) && weight(p, i, k) > 0) {
            float sum = weight(p, i, k) + best(p, done | 1U << i | 1U << k);
            most = sum > most ? sum : most;
        }
    return most;
}

/* The sum of what was found, which must be a matching. */
static float found(const struct problem *p, struct arena *a)
{
    const uint32_t *mate = pairing_find(p->type, p->n, p->w, p->types, a);
    float sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (mate[i] == PAIRING_ALONE)
            continue;
        assert_true(mate[i] < p->n && mate[i] != i && mate[mate[i]] == i);
        assert_true(weight(p, i, mate[i]) > 0);
        sum += weight(p, i, mate[i]) / 2;
    }
    return sum;
}

static void test_near_the_best(void **state)
{
    (void)state;
    struct rng rng;
    double sum = 0, most = 0;
    rng_init(&rng, 7);
    for (int round = 0; round < 2000; round++) {
        struct arena a = {0};
        struct problem p = {.n = 2 + (uint32_t)rng_below(&rng, THINGS_MOST - 1),
                            .types = 1 + (uint32_t)rng_below(&rng, TYPES_MOST)};
        for (uint32_t i = 0; i < p.n; i++)
            p.type[i] = (uint32_t)rng_below(&rng, p.types);
        for (uint32_t i = 0; i < p.types; i++)
            for (uint32_t k = 0; k <= i; k++)
                p.w[i * p.types + k] = p.w[k * p.types + i] =
                    rng_uniform(&rng) < 0.2 ? 0 : (float)rng_uniform(&rng);
        float is = found(&p, &a), could = best(&p, 0);
        assert_true(is >= could * 0.5F - 1e-5F && is <= could + 1e-5F);
        sum += is;
        most += could;
        arena_done(&a);
    }
    assert_true(sum > 0.98 * most);
}

/* The heaviest pair first would leave two that weigh little. */
static void test_exchange(void **state)
{
    (void)state;
    struct arena a = {0};
    static const uint32_t type[] = {0, 1, 2, 3};
    static const float w[] = {0,    0.9F, 0.8F, 0,    /* a with b and c */
                              0.9F, 0,    0,    0.8F, /* b with a and d */
                              0.8F, 0,    0,    0.1F, /* c with a and d */
                              0,    0.8F, 0.1F, 0};
    const uint32_t *mate = pairing_find(type, 4, w, 4, &a);
    assert_int_equal(mate[0], 2);
    assert_int_equal(mate[1], 3);
    arena_done(&a);
}

static void test_nobody(void **state)
{
    (void)state;
    struct arena a = {0};
    static const uint32_t type[] = {0, 0};
    static const float none[] = {0};
    assert_non_null(pairing_find(NULL, 0, NULL, 0, &a));
    assert_int_equal(pairing_find(type, 2, none, 1, &a)[0], PAIRING_ALONE);
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {TEST(test_near_the_best), TEST(test_exchange),
                                          TEST(test_nobody)};

int main(void)
{
    return RUN(tests);
}
