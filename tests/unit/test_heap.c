/* Tests of base/heap, above all against a plain sorted reference. */
#include "base/heap.h"

#include "base/rng.h"
#include "support/test.h"

static void test_order(void **state)
{
    (void)state;
    struct heap h = {0};
    static const int64_t keys[] = {5, -3, 9, 5, INT64_MAX, INT64_MIN, 0};
    for (uint32_t id = 0; id < COUNT_OF(keys); id++)
        heap_set(&h, id, keys[id]);
    static const uint32_t want[] = {5, 1, 6, 0, 3, 2, 4}; /* 0 before 3: equal keys by id */
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_int_equal(heap_top(&h).id, want[i]);
        struct heap_entry e = heap_pop(&h);
        assert_int_equal(e.id, want[i]);
        assert_true(e.key == keys[want[i]]);
    }
    assert_int_equal(h.n, 0);
    heap_done(&h);
}

static void test_membership(void **state)
{
    (void)state;
    struct heap h = {0};
    assert_false(heap_has(&h, 0));
    heap_remove(&h, 0);
    heap_set(&h, 1000, 1);
    assert_true(heap_has(&h, 1000));
    assert_false(heap_has(&h, 999));
    assert_false(heap_has(&h, 1001));
    assert_false(heap_has(&h, UINT32_MAX));
    heap_remove(&h, 999);
    assert_int_equal(h.n, 1);
    heap_remove(&h, 1000);
    assert_false(heap_has(&h, 1000));
    assert_int_equal(h.n, 0);
    heap_done(&h);
    heap_done(&h);
}

static void test_change_of_key(void **state)
{
    (void)state;
    struct heap h = {0};
    for (uint32_t id = 0; id < 10; id++)
        heap_set(&h, id, id);
    heap_set(&h, 9, -1);
    assert_int_equal(heap_top(&h).id, 9);
    heap_set(&h, 9, 100);
    assert_int_equal(heap_top(&h).id, 0);
    heap_set(&h, 0, 0); /* the same key */
    assert_int_equal(heap_top(&h).id, 0);
    assert_int_equal(h.n, 10);
    heap_done(&h);
}

enum { IDS = 64 };

struct reference {
    bool in[IDS];
    int64_t key[IDS];
};

static uint32_t smallest(const struct reference *r)
{
    uint32_t best = IDS;
    for (uint32_t id = 0; id < IDS; id++)
        if (r->in[id] && (best == IDS || r->key[id] < r->key[best]))
            best = id;
    return best;
}

static void assert_same(const struct heap *h, const struct reference *r)
{
    size_t n = 0;
    for (uint32_t id = 0; id < IDS; id++) {
        assert_int_equal(heap_has(h, id), r->in[id]);
        n += r->in[id];
    }
    assert_int_equal(h->n, n);
    for (size_t i = 0; i < h->n; i++) {
        assert_int_equal(h->where[h->at[i].id], i + 1);
        assert_true(h->at[i].key == r->key[h->at[i].id]);
    }
    if (n)
        assert_int_equal(heap_top(h).id, smallest(r));
}

static void random_step(struct heap *h, struct reference *r, struct rng *rng)
{
    uint32_t id = (uint32_t)rng_below(rng, IDS);
    switch (rng_below(rng, 4)) {
    case 0:
    case 1: /* few keys, so that many are equal */
        r->in[id] = true;
        r->key[id] = (int64_t)rng_below(rng, 20) - 10;
        heap_set(h, id, r->key[id]);
        break;
    case 2:
        r->in[id] = false;
        heap_remove(h, id);
        break;
    default:
        if (h->n) {
            id = smallest(r);
            assert_int_equal(heap_pop(h).id, id);
            r->in[id] = false;
        }
    }
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct heap h = {0};
        struct reference r = {0};
        struct rng rng;
        rng_init(&rng, seed);
        for (int i = 0; i < 2000; i++) {
            random_step(&h, &r, &rng);
            assert_same(&h, &r);
        }
        heap_done(&h);
    }
}

/* Whatever was done before, the same entries come out in the same order. */
static void test_order_has_no_history(void **state)
{
    (void)state;
    struct heap a = {0}, b = {0};
    for (uint32_t id = 0; id < 100; id++)
        heap_set(&a, id, id % 3);
    for (uint32_t id = 100; id-- > 0;)
        heap_set(&b, id, 50 - id);
    for (uint32_t id = 0; id < 100; id++)
        heap_set(&b, id, id % 3);
    while (a.n)
        assert_int_equal(heap_pop(&a).id, heap_pop(&b).id);
    assert_int_equal(b.n, 0);
    heap_done(&a);
    heap_done(&b);
}

static const struct CMUnitTest tests[] = {
    TEST(test_order),  TEST(test_membership),           TEST(test_change_of_key),
    TEST(test_random), TEST(test_order_has_no_history),
};

int main(void)
{
    return RUN(tests);
}
