/* What every unit and property test includes: cmocka, which wants other headers
 * before it, and what it does not have. */
#ifndef SUPPORT_TEST_H
#define SUPPORT_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"

/* Both are within eps, or both infinite with the same sign. */
#define assert_near(a, b, eps)                                                                     \
    do {                                                                                           \
        double near_a_ = (a), near_b_ = (b);                                                       \
        if (!(fabs(near_a_ - near_b_) <= (eps)) && near_a_ != near_b_)                             \
            fail_msg("%s is %.17g, %s is %.17g", #a, near_a_, #b, near_b_);                        \
    } while (0)

/* The call fails with this code, and its text holds these words. `e` is the
 * struct err that it was given. */
#define assert_error(call, e, error, words)                                                        \
    do {                                                                                           \
        (e) = (struct err){0};                                                                     \
        if ((call) != -1)                                                                          \
            fail_msg("%s did not fail", #call);                                                    \
        if ((e).code != (error) || !strstr((e).text, (words)))                                     \
            fail_msg("%s: code %d, text '%s'", #call, (e).code, (e).text);                         \
    } while (0)

/* The call succeeds. */
#define assert_ok(call, e)                                                                         \
    do {                                                                                           \
        (e) = (struct err){0};                                                                     \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s", #call, (e).text);                                                   \
    } while (0)

/* Ends the test as skipped, with its reason in the summary. */
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        print_message("skip: %s\n", (reason));                                                     \
        skip();                                                                                    \
    } while (0)

/* static const struct CMUnitTest tests[] = {TEST(one), TEST(two)};
 * int main(void) { return RUN(tests); } */
#define TEST(function) cmocka_unit_test(function)
#define RUN(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif
