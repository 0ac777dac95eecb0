/* Tests of policy/assign: against brute force, against a dense Hungarian, and
 * how long the naming of a large cluster takes. */
#include "policy/place/assign.h"

#include <time.h>

#include "base/rng.h"
#include "support/test.h"

/* A full matrix, zeros included, from which the sparse graph is made. */
struct matrix {
    uint32_t n;
    int64_t *at; /* at[left * n + right] */
};

static struct matrix matrix_create(uint32_t n, struct arena *a)
{
    return (struct matrix){n, ARENA_ARRAY(a, (size_t)n * n, int64_t)};
}

static int64_t *cell(const struct matrix *m, uint32_t left, uint32_t right)
{
    return &m->at[(size_t)left * m->n + right];
}

/* Each cell is zero with chance `empty` of 10; `top` small makes many ties. */
static struct matrix matrix_random(uint32_t n, uint64_t empty, uint64_t top, struct rng *rng,
                                   struct arena *a)
{
    struct matrix m = matrix_create(n, a);
    for (size_t i = 0; i < (size_t)n * n; i++)
        m.at[i] = rng_below(rng, 10) < empty ? 0 : 1 + (int64_t)rng_below(rng, top);
    return m;
}

static struct assign_graph graph_of(const struct matrix *m, struct arena *a)
{
    uint32_t *first = ARENA_ARRAY(a, m->n + 1, uint32_t), count = 0;
    struct assign_edge *edges = ARENA_ARRAY(a, (size_t)m->n * m->n, struct assign_edge);
    for (uint32_t left = 0; left < m->n; left++) {
        for (uint32_t right = 0; right < m->n; right++)
            if (*cell(m, left, right))
                edges[count++] = (struct assign_edge){right, *cell(m, left, right)};
        first[left + 1] = count;
    }
    return (struct assign_graph){m->n, first, edges};
}

/* Solves, checks that no right is used twice and that the sum is that of the
 * pairs, and returns it. */
static int64_t solve(const struct matrix *m, uint32_t *right_of, struct arena *a)
{
    struct assign_graph g = graph_of(m, a);
    bool *used = ARENA_ARRAY(a, m->n, bool);
    int64_t sum = 0, told = assign_solve(&g, right_of, a);
    for (uint32_t left = 0; left < m->n; left++) {
        if (right_of[left] == ASSIGN_NONE)
            continue;
        assert_true(right_of[left] < m->n);
        assert_false(used[right_of[left]]);
        used[right_of[left]] = true;
        sum += *cell(m, left, right_of[left]);
    }
    assert_true(sum == told);
    return sum;
}

/* The heaviest of all permutations. */
static int64_t brute(const struct matrix *m, uint32_t left, uint32_t used)
{
    int64_t best = 0;
    for (uint32_t right = 0; left < m->n && right < m->n; right++)
        if (!(used >> right & 1)) {
            int64_t sum = *cell(m, left, right) + brute(m, left + 1, used | 1U << right);
            best = sum > best ? sum : best;
        }
    return best;
}

static void test_small_cases(void **state)
{
    (void)state;
    struct arena a = {0};
    uint32_t right_of[3];
    struct matrix m = matrix_create(3, &a);
    assert_true(solve(&m, right_of, &a) == 0);
    assert_int_equal(right_of[0], ASSIGN_NONE);

    /* All want right 0; the second has nothing else. */
    *cell(&m, 0, 0) = 5;
    *cell(&m, 0, 1) = 4;
    *cell(&m, 1, 0) = 3;
    *cell(&m, 2, 0) = 1;
    assert_true(solve(&m, right_of, &a) == 7);
    assert_int_equal(right_of[0], 1);
    assert_int_equal(right_of[1], 0);
    assert_int_equal(right_of[2], ASSIGN_NONE);

    /* The same weight either way: the lower left keeps the lower right. */
    memset(m.at, 0, 9 * sizeof *m.at);
    *cell(&m, 1, 1) = *cell(&m, 1, 2) = *cell(&m, 2, 1) = *cell(&m, 2, 2) = 4000;
    assert_true(solve(&m, right_of, &a) == 8000);
    assert_int_equal(right_of[1], 1);
    assert_int_equal(right_of[2], 2);

    struct matrix none = {0};
    assert_true(solve(&none, right_of, &a) == 0);
    arena_done(&a);
}

static void test_against_brute_force(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rng rng;
    uint32_t right_of[7];
    rng_init(&rng, 1);
    for (int i = 0; i < 3000; i++) {
        uint32_t n = 1 + (uint32_t)rng_below(&rng, i % 10 ? 5 : 7);
        uint64_t top = i % 2 ? 3 : 1000;
        struct matrix m = matrix_random(n, rng_below(&rng, 10), top, &rng, &a);
        assert_true(solve(&m, right_of, &a) == brute(&m, 0, 0));
        arena_reset(&a);
    }
    arena_done(&a);
}

/* The textbook O(n^3) Hungarian on the negated dense matrix; rows and columns
 * count from 1, and 0 is "none". */
struct hungarian {
    const struct matrix *m;
    int64_t *u, *v, *least; /* prices of rows and columns; least slack of a column */
    uint32_t *row, *way;    /* by column: its row, the column before it on the path */
    bool *used;
};

/* Makes the next column of the path tight, and returns it. */
static uint32_t hungarian_next(struct hungarian *h, uint32_t col)
{
    uint32_t n = h->m->n, next = 0;
    int64_t delta = INT64_MAX;
    h->used[col] = true;
    for (uint32_t j = 1; j <= n; j++) {
        if (h->used[j])
            continue;
        int64_t slack = -*cell(h->m, h->row[col] - 1, j - 1) - h->u[h->row[col]] - h->v[j];
        if (slack < h->least[j]) {
            h->least[j] = slack;
            h->way[j] = col;
        }
        if (h->least[j] < delta) {
            delta = h->least[j];
            next = j;
        }
    }
    for (uint32_t j = 0; j <= n; j++)
        if (h->used[j]) {
            h->u[h->row[j]] += delta;
            h->v[j] -= delta;
        } else if (j) {
            h->least[j] -= delta;
        }
    return next;
}

static int64_t hungarian(const struct matrix *m, struct arena *a)
{
    uint32_t n = m->n;
    int64_t sum = 0;
    struct hungarian h = {m,
                          ARENA_ARRAY(a, n + 1, int64_t),
                          ARENA_ARRAY(a, n + 1, int64_t),
                          ARENA_ARRAY(a, n + 1, int64_t),
                          ARENA_ARRAY(a, n + 1, uint32_t),
                          ARENA_ARRAY(a, n + 1, uint32_t),
                          ARENA_ARRAY(a, n + 1, bool)};
    for (uint32_t i = 1, col; i <= n; i++) {
        h.row[0] = i;
        for (uint32_t j = 0; j <= n; j++) {
            h.least[j] = INT64_MAX;
            h.used[j] = false;
        }
        for (col = hungarian_next(&h, 0); h.row[col]; col = hungarian_next(&h, col))
            ;
        for (; col; col = h.way[col])
            h.row[col] = h.row[h.way[col]];
    }
    for (uint32_t j = 1; j <= n; j++)
        sum += *cell(m, h.row[j] - 1, j - 1);
    return sum;
}

static void test_against_hungarian(void **state)
{
    (void)state;
    enum { N = 40 };
    struct arena a = {0};
    struct rng rng;
    uint32_t right_of[N];
    rng_init(&rng, 2);
    for (int i = 0; i < 400; i++) {
        struct matrix m = matrix_random(N, rng_below(&rng, 10), i % 2 ? 4 : 100000, &rng, &a);
        assert_true(solve(&m, right_of, &a) == hungarian(&m, &a));
        arena_reset(&a);
    }
    arena_done(&a);
}

/* Never worse than leaving everything under its own name, and the same again. */
static void test_identity_and_repetition(void **state)
{
    (void)state;
    enum { N = 30 };
    struct arena a = {0};
    struct rng rng;
    uint32_t once[N], again[N];
    rng_init(&rng, 3);
    for (int i = 0; i < 400; i++) {
        struct matrix m = matrix_random(N, 7, 8, &rng, &a);
        int64_t identity = 0;
        for (uint32_t k = 0; k < N; k++) {
            *cell(&m, k, k) += (int64_t)rng_below(&rng, 4);
            identity += *cell(&m, k, k);
        }
        assert_true(solve(&m, once, &a) >= identity);
        solve(&m, again, &a);
        assert_memory_equal(once, again, sizeof once);
        arena_reset(&a);
    }
    arena_done(&a);
}

/* `per` tasks on each of n nodes, dealt out again at random: bins and nodes as the
 * naming of a repacked cluster sees them. Tasks have 8 / per GPUs, or if `mixed`
 * any number of units. */
static struct assign_graph shuffled(uint32_t n, uint32_t per, bool mixed, struct rng *rng,
                                    struct arena *a)
{
    uint32_t *node = ARENA_ARRAY(a, n * per, uint32_t);
    uint32_t *first = ARENA_ARRAY(a, n + 1, uint32_t), count = 0;
    struct assign_edge *edges = ARENA_ARRAY(a, n * per, struct assign_edge);
    for (uint32_t i = 0; i < n * per; i++) {
        uint32_t k = (uint32_t)rng_below(rng, i + 1);
        node[i] = node[k];
        node[k] = i / per;
    }
    for (uint32_t left = 0; left < n; left++) {
        for (uint32_t i = 0; i < per; i++) {
            uint32_t k = first[left];
            while (k < count && edges[k].right != node[left * per + i])
                k++;
            edges[k].right = node[left * per + i];
            edges[k].weight += mixed ? 1 + (int64_t)rng_below(rng, 8000) : 8000 / per;
            count = k == count ? count + 1 : count;
        }
        first[left + 1] = count;
    }
    return (struct assign_graph){n, first, edges};
}

static double cpu_ms(void)
{
    return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

/* The bound leaves room for sanitizers and busy machines; the time is printed. */
static void test_large_cluster(void **state)
{
    (void)state;
    enum { N = 1000, SEEDS = 20 };
    uint32_t right_of[N];
    for (uint32_t per = 1; per <= 8; per *= 2)
        for (int mixed = 0; mixed < 2; mixed++) {
            double worst = 0;
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                struct arena a = {0};
                struct rng rng;
                rng_init(&rng, seed);
                struct assign_graph g = shuffled(N, per, mixed, &rng, &a);
                double from = cpu_ms();
                assert_true(assign_solve(&g, right_of, &a) > 0);
                double took = cpu_ms() - from;
                worst = took > worst ? took : worst;
                arena_done(&a);
            }
            print_message("# %d nodes with %u %stasks each: %.2f ms at most\n", N, per,
                          mixed ? "mixed " : "", worst);
            assert_true(worst < 1000);
        }
}

static const struct CMUnitTest tests[] = {
    TEST(test_small_cases),       TEST(test_against_brute_force),
    TEST(test_against_hungarian), TEST(test_identity_and_repetition),
    TEST(test_large_cluster),
};

int main(void)
{
    return RUN(tests);
}
