/* Tests of model/nnls: against every set of columns tried one by one, the
 * conditions of optimality, and problems that leave the solution open. */
#include "model/nnls.h"

#include "base/rng.h"
#include "support/test.h"

enum { ROWS = 12 };

struct problem {
    struct nnls p;
    double row[ROWS][NNLS_MAX], y[ROWS], weight[ROWS];
    uint32_t rows;
};

/* Columns that nearly depend on each other when `alike` is near 1; about half of
 * the true coefficients are negative, so that bounds bind. */
static struct problem problem_random(struct rng *r, uint32_t columns, double alike)
{
    struct problem q = {.rows = columns + (uint32_t)rng_below(r, ROWS - columns + 1)};
    double x[NNLS_MAX];
    nnls_init(&q.p, columns);
    for (uint32_t j = 0; j < columns; j++)
        x[j] = rng_normal(r);
    for (uint32_t i = 0; i < q.rows; i++) {
        double common = rng_normal(r);
        q.y[i] = 0.3 * rng_normal(r);
        q.weight[i] = 0.1 + rng_uniform(r);
        for (uint32_t j = 0; j < columns; j++) {
            q.row[i][j] = alike * common + (1 - alike) * rng_normal(r);
            q.y[i] += x[j] * q.row[i][j];
        }
        nnls_add(&q.p, q.row[i], q.y[i], q.weight[i]);
    }
    return q;
}

static double squares(const struct problem *q, const double *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < q->rows; i++) {
        double off = -q->y[i];
        for (uint32_t j = 0; j < q->p.n; j++)
            off += q->row[i][j] * x[j];
        sum += q->weight[i] * off * off;
    }
    return sum;
}

/* Gaussian elimination on the columns in `used`; false when they depend on each
 * other. */
static bool eliminate(const struct nnls *p, unsigned used, double *x)
{
    double m[NNLS_MAX][NNLS_MAX + 1];
    for (uint32_t i = 0; i < p->n; i++) {
        bool on = used >> i & 1;
        for (uint32_t j = 0; j < p->n; j++)
            m[i][j] = on && used >> j & 1 ? p->gram[i][j] : i == j;
        m[i][p->n] = on ? p->rhs[i] : 0;
    }
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t top = k;
        for (uint32_t i = k + 1; i < p->n; i++)
            top = fabs(m[i][k]) > fabs(m[top][k]) ? i : top;
        if (fabs(m[top][k]) < 1e-12)
            return false;
        for (uint32_t j = 0; j <= p->n; j++) {
            double t = m[k][j];
            m[k][j] = m[top][j];
            m[top][j] = t;
        }
        for (uint32_t i = 0; i < p->n; i++) {
            double f = i == k ? 0 : m[i][k] / m[k][k];
            for (uint32_t j = k; j <= p->n; j++)
                m[i][j] -= f * m[k][j];
        }
    }
    for (uint32_t i = 0; i < p->n; i++)
        x[i] = m[i][p->n] / m[i][i];
    return true;
}

/* The least sum over all sets of columns whose solution is not negative. */
static double brute(const struct problem *q, double *best)
{
    double least = INFINITY;
    for (unsigned used = 0; used < 1U << q->p.n; used++) {
        double x[NNLS_MAX], sum;
        bool legal = eliminate(&q->p, used, x);
        for (uint32_t j = 0; j < q->p.n; j++)
            legal = legal && x[j] >= 0;
        if (legal && (sum = squares(q, x)) < least) {
            least = sum;
            memcpy(best, x, sizeof x);
        }
    }
    return least;
}

static void test_against_brute_force(void **state)
{
    (void)state;
    static const double alike[] = {0, 0.5, 0.9, 0.99};
    struct rng r;
    uint32_t bound = 0, solved = 0;
    rng_init(&r, 1);
    for (int round = 0; round < 20000; round++) {
        uint32_t columns = round % 4 == 3 ? 1 + (uint32_t)rng_below(&r, NNLS_MAX) : 3;
        struct problem q = problem_random(&r, columns, alike[round % (int)COUNT_OF(alike)]);
        double x[NNLS_MAX], best[NNLS_MAX], least = brute(&q, best);
        nnls_solve(&q.p, x);
        assert_near(squares(&q, x), least, 1e-9 * (1 + least));
        for (uint32_t j = 0; j < columns; j++) {
            assert_true(x[j] >= 0);
            assert_near(x[j], best[j], 1e-6 * (1 + best[j]));
            bound += x[j] == 0;
            solved++;
        }
    }
    print_message("# 20000 problems, %.0f %% of the coefficients at 0\n", 100.0 * bound / solved);
}

/* At the solution no coefficient can lower the sum: the slope is 0 where it is
 * positive and not downwards where it is 0. */
static void test_optimality(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 2);
    for (int round = 0; round < 2000; round++) {
        struct problem q = problem_random(&r, NNLS_MAX, 0.3);
        double x[NNLS_MAX];
        nnls_solve(&q.p, x);
        for (uint32_t i = 0; i < q.p.n; i++) {
            double slope = -q.p.rhs[i];
            for (uint32_t j = 0; j < q.p.n; j++)
                slope += q.p.gram[i][j] * x[j];
            assert_true(x[i] > 0 ? fabs(slope) < 1e-9 : slope > -1e-9);
        }
    }
}

static void test_exact(void **state)
{
    (void)state;
    struct nnls p;
    double x[3];
    nnls_init(&p, 3);
    for (int n = 1; n <= 6; n++)
        nnls_add(&p, (double[]){1, 1.0 / n, n - 1}, 0.2 + 0.7 / n + 0.01 * (n - 1), 1);
    nnls_solve(&p, x);
    assert_near(x[0], 0.2, 1e-9);
    assert_near(x[1], 0.7, 1e-9);
    assert_near(x[2], 0.01, 1e-9);
}

/* Columns of very different size, as microseconds beside seconds. */
static void test_scales(void **state)
{
    (void)state;
    struct nnls p;
    double x[2];
    nnls_init(&p, 2);
    nnls_add(&p, (double[]){1e-120, 1e90}, 1e-120 * 3 + 1e90 * 2, 1);
    nnls_add(&p, (double[]){1e-120, -1e90}, 1e-120 * 3 - 1e90 * 2, 1);
    nnls_solve(&p, x);
    assert_near(x[1], 2, 1e-9);
    assert_true(isfinite(x[0]) && x[0] >= 0);
}

static void test_open_solutions(void **state)
{
    (void)state;
    struct nnls p;
    double x[3] = {7, 7, 7}, row[] = {1, 2, 4};
    nnls_init(&p, 3);
    nnls_solve(&p, x);
    for (int j = 0; j < 3; j++)
        assert_near(x[j], 0, 0);
    assert_true(isinf(nnls_variance(&p, row)));

    nnls_add(&p, row, 8, 1); /* one row for three columns */
    nnls_solve(&p, x);
    assert_near(x[0] + 2 * x[1] + 4 * x[2], 8, 1e-12);
    assert_true(x[0] >= 0 && x[1] >= 0 && x[2] >= 0);
    assert_true(isinf(nnls_variance(&p, row)));

    nnls_init(&p, 3); /* the first and the last column are the same */
    nnls_add(&p, (double[]){1, 0, 1}, 2, 1);
    nnls_add(&p, (double[]){1, 1, 1}, 5, 1);
    nnls_add(&p, (double[]){2, 1, 2}, 7, 1);
    nnls_solve(&p, x);
    assert_near(x[0] + x[2], 2, 1e-9);
    assert_near(x[1], 3, 1e-9);
}

static void test_all_negative(void **state)
{
    (void)state;
    struct nnls p;
    double x[2];
    nnls_init(&p, 2);
    nnls_add(&p, (double[]){1, 0}, -1, 1);
    nnls_add(&p, (double[]){0, 1}, -1, 1);
    nnls_solve(&p, x);
    assert_near(x[0], 0, 0);
    assert_near(x[1], 0, 0);
}

/* Rows with variance 1 / weight: the variance of a straight line's ends. */
static void test_variance(void **state)
{
    (void)state;
    struct nnls p;
    nnls_init(&p, 2);
    for (int i = -2; i <= 2; i++)
        nnls_add(&p, (double[]){1, i}, 0, 4);
    assert_near(nnls_variance(&p, (double[]){1, 0}), 1.0 / 20, 1e-12);
    assert_near(nnls_variance(&p, (double[]){0, 1}), 1.0 / 40, 1e-12);
    assert_near(nnls_variance(&p, (double[]){1, 3}), 1.0 / 20 + 9.0 / 40, 1e-12);
}

static const struct CMUnitTest tests[] = {
    TEST(test_against_brute_force), TEST(test_optimality),   TEST(test_exact),    TEST(test_scales),
    TEST(test_open_solutions),      TEST(test_all_negative), TEST(test_variance),
};

int main(void)
{
    return RUN(tests);
}
