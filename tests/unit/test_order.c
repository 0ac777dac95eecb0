/* Tests of policy/order: the sort against the library's, and what is sorted. */
#include "policy/order.h"

#include "base/rng.h"
#include "support/test.h"
#include "support/world.h"

static int compare(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task); /* where it was: stable */
}

/* n things with many equal keys; `task` says where each was. */
static void draw(struct rng *r, struct keyed *k, uint32_t n, uint64_t values)
{
    for (uint32_t i = 0; i < n; i++)
        k[i] = (struct keyed){(int64_t)rng_below(r, 2), (double)rng_below(r, values),
                              (usec_t)rng_below(r, 2), (uint32_t)rng_below(r, 2), i};
}

static void test_sort(void **state)
{
    (void)state;
    enum { MOST = 200 };
    struct keyed k[MOST], want[MOST];
    struct arena a = {0};
    struct rng r;
    rng_init(&r, 3);
    for (int round = 0; round < 3000; round++) {
        uint32_t n = (uint32_t)rng_below(&r, MOST + 1);
        draw(&r, k, n, 1 + rng_below(&r, 50));
        memcpy(want, k, n * sizeof *k);
        qsort(want, n, sizeof *want, compare);
        bool was_sorted = !memcmp(want, k, n * sizeof *k);
        assert_int_equal(order_sort(k, n, &a), !was_sorted);
        assert_memory_equal(k, want, n * sizeof *k);
        assert_false(order_sort(k, n, &a)); /* nothing to do the second time */
        arena_reset(&a);
    }
    arena_done(&a);
}

static void submit(struct world *w, double at, int32_t priority)
{
    world_submit(w, at,
                 (struct job){.pool = POOL_GPU,
                              .req = UNIT,
                              .work = 1e6,
                              .priority = priority,
                              .submit = (usec_t)(at * 1e6) + 1});
}

static void test_collect(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x1", "fifo", NULL);
    submit(&w, 0, 0);
    submit(&w, 1, 5);
    submit(&w, 2, 0);
    struct arena a = {0};
    const struct snapshot *s = engine_snapshot(&w.e, w.now);
    struct keyed *k = order_collect(s, &a);
    assert_int_equal(s->active, 3);
    order_sort(k, 3, &a);
    assert_int_equal(k[0].task, 1); /* the higher priority */
    assert_int_equal(k[1].task, 0);
    assert_int_equal(k[2].task, 2);
    arena_done(&a);
    world_done(&w);
}

/* The snapshot keeps the order of submission as long as nobody changes it. */
static void test_by_submit(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x1", "fifo", NULL);
    submit(&w, 5, 0);
    submit(&w, 3, 0); /* submitted earlier, told later */
    submit(&w, 4, 1);
    struct arena a = {0};
    struct plan plan;
    const struct snapshot *s = engine_snapshot(&w.e, w.now);
    plan_init(&plan, s, &a, false);
    const uint32_t *order = order_by_submit(s, &plan);
    assert_null(plan.order); /* it is sorted already */
    assert_int_equal(order[0], 2);
    assert_int_equal(order[1], 1);
    assert_int_equal(order[2], 0);

    w.e.snapshot.by_submit = false;
    static const uint32_t shuffled[] = {0, 2, 1};
    struct task_link *links = w.e.links;
    w.e.snapshot.first = shuffled[0];
    links[0] = (struct task_link){TASK_NONE, 2};
    links[2] = (struct task_link){0, 1};
    links[1] = (struct task_link){2, TASK_NONE};
    w.e.snapshot.last = 1;
    plan_init(&plan, s, &a, false);
    order = order_by_submit(s, &plan);
    assert_ptr_equal(plan.order, order);
    assert_true(plan.by_submit);
    assert_int_equal(order[0], 2);
    assert_int_equal(order[1], 1);
    assert_int_equal(order[2], 0);
    arena_done(&a);
    world_done(&w);
}

static void test_grants(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "fifo", NULL);
    submit(&w, 5, 0);
    submit(&w, 3, 0);
    submit(&w, 4, 7); /* priority does not count here */
    struct arena a = {0};
    struct plan plan;
    const struct snapshot *s = engine_snapshot(&w.e, w.now);
    plan_init(&plan, s, &a, false);
    plan_give(&plan, 2, POOL_GPU, UNIT);
    plan_give(&plan, 0, POOL_GPU, UNIT);
    plan_give(&plan, 1, POOL_GPU, UNIT);
    const uint32_t *order = order_grants(s, &plan);
    assert_int_equal(plan.grants[order[0]].task, 1);
    assert_int_equal(plan.grants[order[1]].task, 2);
    assert_int_equal(plan.grants[order[2]].task, 0);
    arena_done(&a);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_sort),
    TEST(test_collect),
    TEST(test_by_submit),
    TEST(test_grants),
};

int main(void)
{
    return RUN(tests);
}
