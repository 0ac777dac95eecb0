/* Tests of model/service: every service is in the bucket whose edges hold it. */
#include "model/service.h"

#include "base/rng.h"
#include "support/test.h"

static void test_edges(void **state)
{
    (void)state;
    assert_near(service_edge(0), 0, 0);
    for (unsigned b = 0; b < SERVICE_BUCKETS - 1; b++) {
        assert_true(service_edge(b) < service_edge(b + 1));
        assert_int_equal(service_bucket(service_edge(b)), b);
        assert_int_equal(service_bucket(nextafter(service_edge(b + 1), 0)), b);
    }
}

static void test_random(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 1);
    for (int i = 0; i < 100000; i++) {
        double service = pow(10, rng_uniform(&r) * 21);
        unsigned b = service_bucket(service);
        assert_true(service >= service_edge(b) && service < service_edge(b + 1));
    }
}

static void test_extremes(void **state)
{
    (void)state;
    assert_int_equal(service_bucket(0), 0);
    assert_int_equal(service_bucket(-5), 0);
    assert_int_equal(service_bucket(NAN), 0);
    assert_int_equal(service_bucket(1e300), SERVICE_BUCKETS - 1);
    assert_int_equal(service_bucket(INFINITY), SERVICE_BUCKETS - 1);
}

static void test_add(void **state)
{
    (void)state;
    struct service s = {0};
    service_add(&s, 5e9);
    service_add(&s, 5.1e9);
    service_add(&s, 1);
    assert_int_equal(s.total, 3);
    unsigned b = service_bucket(5e9);
    assert_int_equal(s.count[b], 2);
    assert_near(s.sum[b], 10.1e9, 1);
    assert_int_equal(s.count[0], 1);
    assert_near(s.sum[0], 1, 0);
}

static const struct CMUnitTest tests[] = {
    TEST(test_edges),
    TEST(test_random),
    TEST(test_extremes),
    TEST(test_add),
};

int main(void)
{
    return RUN(tests);
}
