/* Tests of what the store remembers of earlier runs. */
#include "store/past.h"

#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static int add_text(void *ctx, const struct past_row *row, struct err *err)
{
    (void)err;
    str_addf(ctx, "%s:%g:%g ", row->arguments, row->step, row->work);
    return 0;
}

static int stop_early(void *ctx, const struct past_row *row, struct err *err)
{
    (void)row;
    (void)err;
    ++*(unsigned *)ctx;
    return 1;
}

static void save(struct store *s, const char *category, const char *arguments, usec_t at,
                 double step)
{
    struct past_row row = {category, arguments, at, step, 2 * step};
    struct err err;
    assert_ok(store_past_save(s, &row, &err), err);
}

static void assert_list(struct store *s, const char *category, const char *want)
{
    struct str got = {0};
    struct err err;
    str_add(&got, "");
    assert_ok(store_past_list(s, category, add_text, &got, &err), err);
    assert_string_equal(got.at, want);
    str_done(&got);
}

static void test_newest_first(void **state)
{
    struct store *s = store_dir_open(*state);
    unsigned n = 0;
    struct err err;
    save(s, "a", "x", 1, 10);
    save(s, "a", "y", 3, NAN);
    save(s, "b", "x", 2, 20);
    assert_list(s, "a", "y:nan:nan x:10:20 ");
    save(s, "a", "x", 4, 11);
    assert_list(s, "a", "x:11:22 y:nan:nan ");
    assert_list(s, "b", "x:20:40 ");
    assert_list(s, "c", "");
    assert_ok(store_past_list(s, "a", stop_early, &n, &err), err);
    assert_int_equal(n, 1);
    store_close(s);
}

static int count(void *ctx, const struct past_row *row, struct err *err)
{
    (void)err;
    ++*(unsigned *)ctx;
    assert_true(row->at > 100 - STORE_PAST_KEPT);
    return 0;
}

static void test_only_some_are_kept(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    unsigned n = 0;
    char arguments[16];
    for (int i = 1; i <= 100; i++) {
        snprintf(arguments, sizeof arguments, "%d", i);
        save(s, "a", arguments, i, 1);
    }
    assert_ok(store_past_list(s, "a", count, &n, &err), err);
    assert_int_equal(n, STORE_PAST_KEPT);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_newest_first),
    STORE_TEST(test_only_some_are_kept),
};

int main(void)
{
    return RUN(tests);
}
