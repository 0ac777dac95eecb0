/* Tests of the tables of notifications. */
#include "store/notices.h"

#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static int see_target(void *ctx, const struct target_row *row, struct err *err)
{
    char *seen = ctx;
    (void)err;
    sprintf(seen + strlen(seen), "%lld:%s:%s:%s:%lld ", (long long)row->id, row->user, row->target,
            row->secret, (long long)row->events);
    return 0;
}

static void assert_targets(struct store *s, const char *user, const char *want)
{
    char seen[256] = "";
    struct err err;
    assert_ok(store_target_list(s, user, see_target, seen, &err), err);
    assert_string_equal(seen, want);
}

static void test_targets(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t id = 0;
    static const struct target_row rows[] = {
        {0, "ann", "mail:a", "", 1}, {0, "bob", "mail:b", "key", 2}, {0, "*", "mail:c", "", 4}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_ok(store_target_add(s, &rows[i], &id, &err), err);
    assert_int_equal(id, 3);
    assert_targets(s, NULL, "1:ann:mail:a::1 2:bob:mail:b:key:2 3:*:mail:c::4 ");
    assert_targets(s, "bob", "2:bob:mail:b:key:2 3:*:mail:c::4 ");
    assert_ok(store_target_delete(s, 3, &err), err);
    assert_targets(s, "eve", "");
    store_close(s);
}

static int see_notice(void *ctx, const struct notice_row *row, struct err *err)
{
    char *seen = ctx;
    (void)err;
    sprintf(seen + strlen(seen), "%lld:%s:%lld:%lld ", (long long)row->id, row->message,
            (long long)row->due, (long long)row->tries);
    return 0;
}

static void assert_notices(struct store *s, const char *want)
{
    char seen[256] = "";
    struct err err;
    assert_ok(store_notice_list(s, see_notice, seen, &err), err);
    assert_string_equal(seen, want);
}

/* The next due comes first. */
static void test_notices(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct notice_row one = {.target = "t", .secret = "", .message = "{1}", .created = 5, .due = 5};
    struct notice_row two = {.target = "t", .secret = "", .message = "{2}", .created = 6, .due = 6};
    assert_ok(store_notice_add(s, &one, &err), err);
    assert_ok(store_notice_add(s, &two, &err), err);
    assert_notices(s, "1:{1}:5:0 2:{2}:6:0 ");
    assert_ok(store_notice_retry(s, 1, 1, 100, &err), err);
    assert_notices(s, "2:{2}:6:0 1:{1}:100:1 ");
    assert_ok(store_notice_delete(s, 2, &err), err);
    assert_notices(s, "1:{1}:100:1 ");
    store_close(s);
}

static const struct CMUnitTest tests[] = {STORE_TEST(test_targets), STORE_TEST(test_notices)};

int main(void)
{
    return RUN(tests);
}
