/* The map from numbers to pointers, against an array that knows the truth. */
#include "base/idmap.h"
#include "base/rng.h"
#include "support/test.h"

enum { KEYS = 500, ROUNDS = 20000 };

static void behaves_as_an_array(void **state)
{
    struct idmap m = {0};
    struct rng r;
    char values[KEYS];
    void *truth[KEYS] = {0};
    size_t n = 0;
    (void)state;
    rng_init(&r, 7);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t key = (uint64_t)(rng_uniform(&r) * KEYS);
        if (rng_uniform(&r) < 0.5) {
            n += !truth[key];
            idmap_set(&m, key, truth[key] = &values[(size_t)(rng_uniform(&r) * KEYS)]);
        } else {
            n -= truth[key] != NULL;
            idmap_remove(&m, key);
            truth[key] = NULL;
        }
        assert_int_equal(m.n, n);
        uint64_t other = (uint64_t)(rng_uniform(&r) * KEYS);
        assert_ptr_equal(idmap_get(&m, other), truth[other]);
    }
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ptr_equal(idmap_get(&m, key), truth[key]);
    idmap_done(&m);
}

static void an_empty_one_has_nothing(void **state)
{
    struct idmap m = {0};
    (void)state;
    assert_null(idmap_get(&m, 1));
    idmap_remove(&m, 1);
    idmap_done(&m);
}

static const struct CMUnitTest tests[] = {
    TEST(behaves_as_an_array),
    TEST(an_empty_one_has_nothing),
};

int main(void)
{
    return RUN(tests);
}
