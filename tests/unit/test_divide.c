/* Tests of model/divide: worked examples; random divisions are in
 * tests/property/divide.c. */
#include "model/divide.h"

#include "support/test.h"

static void expect(double capacity, struct claim *claims, uint32_t n, const double *got)
{
    divide_cpus(capacity, claims, n);
    for (uint32_t i = 0; i < n; i++)
        assert_near(claims[i].got, got[i], 1e-9);
}

static void test_examples(void **state)
{
    (void)state;
    struct claim even[] = {{8, 1, 0}, {8, 1, 0}};
    expect(8, even, 2, (double[]){4, 4});
    struct claim weighted[] = {{8, 3, 0}, {8, 1, 0}};
    expect(8, weighted, 2, (double[]){6, 2});
    struct claim capped[] = {{1, 1, 0}, {8, 1, 0}, {8, 1, 0}};
    expect(8, capped, 3, (double[]){1, 3.5, 3.5});
    /* The second is capped only once the first has left something. */
    struct claim chain[] = {{1, 1, 0}, {3, 1, 0}, {8, 1, 0}};
    expect(8, chain, 3, (double[]){1, 3, 4});
    struct claim all_content[] = {{1, 1, 0}, {2, 5, 0}};
    expect(8, all_content, 2, (double[]){1, 2});
    struct claim exact[] = {{4, 1, 0}, {4, 1, 0}};
    expect(8, exact, 2, (double[]){4, 4});
}

static void test_edges(void **state)
{
    (void)state;
    divide_cpus(8, NULL, 0);
    struct claim alone[] = {{5, 1, 0}};
    expect(8, alone, 1, (double[]){5});
    expect(3, alone, 1, (double[]){3});
    expect(0, alone, 1, (double[]){0});
    struct claim wants_nothing[] = {{0, 1, 0}, {5, 1, 0}};
    expect(4, wants_nothing, 2, (double[]){0, 4});
    struct claim light[] = {{1000, 1e-9, 0}, {1000, 1e9, 0}};
    expect(1000, light, 2, (double[]){0, 1000});
}

static const struct CMUnitTest tests[] = {TEST(test_examples), TEST(test_edges)};

int main(void)
{
    return RUN(tests);
}
