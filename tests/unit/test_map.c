/* Tests of base/map. */
#include "base/map.h"

#include "support/test.h"

static void test_empty(void **state)
{
    (void)state;
    struct map m = {0};
    uint32_t v = 77;
    assert_false(map_get(&m, "x", &v));
    assert_int_equal(v, 77);
    map_done(&m);
    map_done(&m);
}

static void test_add_and_get(void **state)
{
    (void)state;
    struct map m = {0};
    uint32_t v = 77;
    assert_true(map_add(&m, "", 1));
    assert_true(map_add(&m, "a", 2));
    assert_true(map_add(&m, "A", UINT32_MAX));
    assert_false(map_add(&m, "a", 3));
    assert_int_equal(m.n, 3);
    assert_true(map_get(&m, "", &v));
    assert_int_equal(v, 1);
    assert_true(map_get(&m, "a", &v));
    assert_int_equal(v, 2);
    assert_true(map_get(&m, "A", &v));
    assert_int_equal(v, UINT32_MAX);
    assert_false(map_get(&m, "b", &v));
    assert_int_equal(v, UINT32_MAX);
    map_done(&m);
}

/* Equal text at another address is the same key. */
static void test_keys_are_texts(void **state)
{
    (void)state;
    struct map m = {0};
    char one[] = "job-1", two[] = "job-1";
    uint32_t v = 0;
    assert_true(map_add(&m, one, 5));
    assert_false(map_add(&m, two, 6));
    assert_true(map_get(&m, two, &v));
    assert_int_equal(v, 5);
    map_done(&m);
}

static void test_many(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct map m = {0};
    struct arena a = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        assert_true(map_add(&m, arena_strdup(&a, key), i));
        assert_true(m.n * 3 <= m.cap * 2);
    }
    assert_int_equal(m.n, MANY);
    assert_int_equal(m.cap & (m.cap - 1), 0);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        char key[16];
        uint32_t v = 0;
        snprintf(key, sizeof key, "%u", i);
        assert_int_equal(map_get(&m, key, &v), i < MANY);
        assert_int_equal(v, i < MANY ? i : 0);
    }
    map_done(&m);
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(test_empty),
    TEST(test_add_and_get),
    TEST(test_keys_are_texts),
    TEST(test_many),
};

int main(void)
{
    return RUN(tests);
}
