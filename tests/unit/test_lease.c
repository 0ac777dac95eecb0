/* Tests of the conductor's lease. */
#include "conductor/lease.h"

#include "support/test.h"

#define SECOND USEC_PER_SEC

static void counts_from_the_question(void **state)
{
    struct lease l;
    (void)state;
    lease_init(&l, 300 * SECOND, 1000 * SECOND);
    assert_int_equal(lease_next(&l, true), 1100 * SECOND);
    assert_int_equal(lease_next(&l, false), 1300 * SECOND);
    assert_false(lease_ask(&l, 1099 * SECOND));
    assert_true(lease_ask(&l, 1100 * SECOND));
    assert_false(lease_ask(&l, 1101 * SECOND));
    /* The answer was under way for long. */
    lease_renew(&l, 1100 * SECOND, 300 * SECOND);
    assert_false(lease_is_over(&l, 1399 * SECOND));
    assert_true(lease_is_over(&l, 1400 * SECOND));
}

static void one_that_is_awaited_is_asked_for_at_once(void **state)
{
    struct lease l;
    (void)state;
    lease_init(&l, 300 * SECOND, 1000 * SECOND);
    lease_await(&l, 1000 * SECOND);
    assert_true(lease_is_over(&l, 1000 * SECOND));
    assert_true(lease_ask(&l, 1000 * SECOND));
    lease_renew(&l, 1000 * SECOND, 300 * SECOND);
    assert_false(lease_is_over(&l, 1299 * SECOND));
    /* An answer that took longer than the lease does not start anything. */
    lease_await(&l, 2000 * SECOND);
    assert_true(lease_ask(&l, 2000 * SECOND));
    lease_renew(&l, 2000 * SECOND, 300 * SECOND);
    assert_true(lease_is_over(&l, 2400 * SECOND));
    assert_true(lease_ask(&l, 2400 * SECOND));
}

static void asks_again_without_an_answer(void **state)
{
    struct lease l;
    (void)state;
    lease_init(&l, 300 * SECOND, 1000 * SECOND);
    assert_true(lease_ask(&l, 1150 * SECOND));
    assert_int_equal(lease_next(&l, true), 1250 * SECOND);
    assert_true(lease_ask(&l, 1250 * SECOND));
    /* Both are answered, the second first. */
    lease_renew(&l, 1250 * SECOND, 300 * SECOND);
    lease_renew(&l, 1150 * SECOND, 300 * SECOND);
    assert_true(lease_is_over(&l, 1550 * SECOND));
    assert_false(lease_is_over(&l, 1549 * SECOND));
}

static void a_new_connection_asks_if_it_is_time(void **state)
{
    struct lease l;
    (void)state;
    lease_init(&l, 300 * SECOND, 1000 * SECOND);
    assert_true(lease_ask(&l, 1120 * SECOND));
    lease_reconnected(&l);
    assert_true(lease_ask(&l, 1121 * SECOND));
    lease_renew(&l, 1121 * SECOND, 300 * SECOND);
    lease_reconnected(&l);
    assert_false(lease_ask(&l, 1122 * SECOND));
}

static void an_answer_that_was_not_asked_for(void **state)
{
    struct lease l;
    (void)state;
    lease_init(&l, 300 * SECOND, 1000 * SECOND);
    lease_renew(&l, 1200 * SECOND, 300 * SECOND);
    assert_true(lease_is_over(&l, 1300 * SECOND));
    assert_true(lease_ask(&l, 1100 * SECOND));
    lease_renew(&l, 1200 * SECOND, 300 * SECOND);
    assert_true(lease_is_over(&l, 1300 * SECOND));
}

static void none(void **state)
{
    struct lease l;
    (void)state;
    lease_init(&l, 0, 1000 * SECOND);
    assert_false(lease_ask(&l, INT64_MAX / 2));
    assert_false(lease_is_over(&l, INT64_MAX / 2));
    assert_true(lease_next(&l, true) == USEC_NEVER);
    /* A server may take the lease back. */
    lease_init(&l, 300 * SECOND, 1000 * SECOND);
    assert_true(lease_ask(&l, 1100 * SECOND));
    lease_renew(&l, 1100 * SECOND, 0);
    assert_false(lease_is_over(&l, INT64_MAX / 2));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_from_the_question),
    cmocka_unit_test(one_that_is_awaited_is_asked_for_at_once),
    cmocka_unit_test(asks_again_without_an_answer),
    cmocka_unit_test(a_new_connection_asks_if_it_is_time),
    cmocka_unit_test(an_answer_that_was_not_asked_for),
    cmocka_unit_test(none),
};

int main(void)
{
    return RUN(tests);
}
