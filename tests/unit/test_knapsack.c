/* The knapsack against a plain dynamic program on random instances. */
#include "policy/allocate/knapsack.h"

#include <math.h>

#include "base/rng.h"
#include "support/test.h"

enum { JOBS = 12, SIZE = 9, CAPACITY = 40 };

struct instance {
    struct knapsack_option options[JOBS][SIZE];
    struct knapsack_job jobs[JOBS];
    uint32_t n, capacity;
};

/* Sizes with gaps; values that are concave, linear, lumpy or flat. */
static void make(struct instance *in, struct rng *r)
{
    in->n = 1 + (uint32_t)rng_below(r, JOBS);
    in->capacity = (uint32_t)rng_below(r, CAPACITY);
    for (uint32_t i = 0; i < in->n; i++) {
        uint64_t shape = rng_below(r, 4);
        double value = 0;
        in->jobs[i] = (struct knapsack_job){.options = in->options[i]};
        for (uint32_t size = 1; size <= SIZE; size++) {
            double gain = shape == 0   ? 1.0 / size
                          : shape == 1 ? 1
                          : shape == 2 ? rng_uniform(r) - 0.2
                                       : size == 4;
            value += gain;
            if (rng_below(r, 3) && value > 0)
                in->options[i][in->jobs[i].n++] = (struct knapsack_option){size, value};
        }
    }
}

static double reference(const struct instance *in)
{
    double best[CAPACITY + 1] = {0};
    for (uint32_t i = 0; i < in->n; i++)
        for (uint32_t c = in->capacity + 1; c-- > 0;)
            for (uint32_t k = 0; k < in->jobs[i].n; k++) {
                const struct knapsack_option *o = &in->options[i][k];
                if (o->size <= c && best[c - o->size] + o->value > best[c])
                    best[c] = best[c - o->size] + o->value;
            }
    return best[in->capacity];
}

static void test_is_exact(void **state)
{
    (void)state;
    struct rng r;
    struct arena a = {0};
    rng_init(&r, 3);
    for (int round = 0; round < 20000; round++) {
        struct instance in = {0};
        uint32_t used = 0;
        double sum = 0;
        make(&in, &r);
        knapsack_solve(in.jobs, in.n, in.capacity, &a);
        for (uint32_t i = 0; i < in.n; i++) {
            assert_true(in.jobs[i].chosen <= in.jobs[i].n);
            if (!in.jobs[i].chosen)
                continue;
            used += in.options[i][in.jobs[i].chosen - 1].size;
            sum += in.options[i][in.jobs[i].chosen - 1].value;
        }
        assert_true(used <= in.capacity);
        double best = reference(&in);
        if (fabs(sum - best) > 1e-6)
            fail_msg("round %d: %.9f instead of %.9f", round, sum, best);
        arena_reset(&a);
    }
    arena_done(&a);
}

static void test_ties_go_to_earlier_jobs(void **state)
{
    (void)state;
    struct arena a = {0};
    struct knapsack_option options[] = {{1, 1}, {2, 1.5}};
    struct knapsack_job jobs[] = {{options, 2, 0}, {options, 2, 0}, {options, 2, 0}};
    knapsack_solve(jobs, 3, 4, &a);
    assert_int_equal(jobs[0].chosen, 2);
    assert_int_equal(jobs[1].chosen, 1);
    assert_int_equal(jobs[2].chosen, 1);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_exact),
        cmocka_unit_test(test_ties_go_to_earlier_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
