/* Division by prices: against every possible division of small cases, and against its own bound in
 * large ones. */
#include "policy/allocate/prices.h"

#include <math.h>

#include "base/rng.h"
#include "support/test.h"

enum { POOLS = 3, SIZES = 4 };

struct bidder {
    double value[POOLS][SIZES]; /* of 1, 2, ... units; 0 = not offered */
};

static void solve(struct prices *p, const struct bidder *b, uint32_t n, const units_t *free,
                  struct arena *a)
{
    prices_init(p, free, POOLS, n, a);
    for (uint32_t i = 0; i < n; i++) {
        prices_begin(p);
        for (unsigned pool = 0; pool < POOLS; pool++)
            for (int k = 0; k < SIZES; k++)
                prices_offer(p, pool, (k + 1) * UNIT, b[i].value[pool][k]);
    }
    prices_solve(p);
}

/* The largest sum of values of bidders i..n-1 with what is left. */
static double best_sum(const struct bidder *b, uint32_t i, uint32_t n, units_t *left)
{
    double best = i < n ? best_sum(b, i + 1, n, left) : 0;
    for (unsigned pool = 0; i < n && pool < POOLS; pool++)
        for (int k = 0; k < SIZES; k++) {
            units_t need = (k + 1) * UNIT;
            if (!(b[i].value[pool][k] > 0) || need > left[pool])
                continue;
            left[pool] -= need;
            best = fmax(best, b[i].value[pool][k] + best_sum(b, i + 1, n, left));
            left[pool] += need;
        }
    return best;
}

/* Curves with dips, and types that some cannot use. */
static void draw(struct rng *rng, struct bidder *b)
{
    for (unsigned pool = 0; pool < POOLS; pool++) {
        double unit = rng_uniform(rng) < 0.2 ? 0 : 0.2 + rng_uniform(rng);
        for (int k = 0; k < SIZES; k++)
            b->value[pool][k] = unit * pow(k + 1, 0.3 + 0.6 * rng_uniform(rng));
    }
}

/* What is chosen fits, is what was offered, and nobody could take more of what is left. */
static void check_choices(const struct prices *p, const struct bidder *b, uint32_t n,
                          const units_t *free)
{
    units_t left[POOLS] = {free[0], free[1], free[2]};
    for (uint32_t i = 0; i < n; i++) {
        const struct price_option *o = prices_choice(p, i);
        if (!o)
            continue;
        left[o->pool] -= o->n;
        assert_true(o->value == b[i].value[o->pool][o->n / UNIT - 1]);
    }
    for (unsigned pool = 0; pool < POOLS; pool++)
        assert_true(left[pool] >= 0 && left[pool] == p->free[pool]);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned pool = 0; pool < POOLS; pool++)
            assert_true(prices_choice(p, i) || left[pool] < UNIT || !(b[i].value[pool][0] > 0));
}

static void divides_small_cases(void **state)
{
    struct rng rng;
    double worst = 1, sum = 0;
    int cases = 400;
    (void)state;
    rng_init(&rng, 7);
    for (int c = 0; c < cases; c++) {
        struct arena a = {0};
        struct bidder b[5];
        struct prices p;
        uint32_t n = 1 + (uint32_t)(rng_uniform(&rng) * 5);
        units_t sale[POOLS];
        for (unsigned pool = 0; pool < POOLS; pool++)
            sale[pool] = (units_t)(rng_uniform(&rng) * 5) * UNIT;
        for (uint32_t i = 0; i < n; i++)
            draw(&rng, &b[i]);
        solve(&p, b, n, sale, &a);
        check_choices(&p, b, n, sale);
        double best = best_sum(b, 0, n, sale), found = prices_value(&p);
        assert_true(found <= best + 1e-9 && best <= prices_bound(&p) + 1e-9);
        worst = best > 0 ? fmin(worst, found / best) : worst;
        sum += best > 0 ? found / best : 1;
        arena_done(&a);
    }
    assert_true(worst > 0.75); /* with a handful of units, one that is lost is much */
    assert_true(sum / cases > 0.985);
}

/* With many bidders a unit is little: the gap to the bound is small. */
static void divides_large_cases(void **state)
{
    enum { BIDDERS = 300 };
    struct rng rng;
    (void)state;
    rng_init(&rng, 11);
    for (int c = 0; c < 5; c++) {
        struct arena a = {0};
        struct bidder *b = xcalloc(BIDDERS, sizeof *b);
        struct prices p;
        units_t sale[POOLS] = {100 * UNIT, 150 * UNIT, 80 * UNIT};
        for (uint32_t i = 0; i < BIDDERS; i++)
            draw(&rng, &b[i]);
        solve(&p, b, BIDDERS, sale, &a);
        check_choices(&p, b, BIDDERS, sale);
        assert_true(prices_value(&p) > 0.99 * prices_bound(&p));
        free(b);
        arena_done(&a);
    }
}

/* All want the same: some get it, and nothing is left as long as somebody has nothing. */
static void divides_among_equals(void **state)
{
    struct arena a = {0};
    struct bidder b[10] = {0};
    struct prices p;
    units_t sale[POOLS] = {0, 4 * UNIT, 4 * UNIT};
    (void)state;
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < SIZES; k++)
            b[i].value[1][k] = b[i].value[2][k] = sqrt(k + 1);
    solve(&p, b, 10, sale, &a);
    check_choices(&p, b, 10, sale);
    assert_near(prices_value(&p), 8, 1e-9); /* eight with one each */
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(divides_small_cases),
    TEST(divides_large_cases),
    TEST(divides_among_equals),
};

int main(void)
{
    return RUN(tests);
}
