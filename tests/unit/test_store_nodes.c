/* Tests of what the store keeps about nodes. */
#include "store/nodes.h"

#include "base/str.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static int see_node(void *ctx, const struct node_row *row, struct err *err)
{
    (void)err;
    str_addf(ctx, "%s=%d(%s) ", row->name, row->drained, row->reason);
    return 0;
}

static void assert_nodes(struct store *s, const char *want)
{
    struct err err;
    struct str seen = {0};
    str_add(&seen, "");
    assert_ok(store_node_list(s, see_node, &seen, &err), err);
    assert_string_equal(seen.at, want);
    str_done(&seen);
}

static void save(struct store *s, const char *name, bool drained, const char *reason)
{
    struct err err;
    struct node_row row = {name, drained, reason};
    assert_ok(store_node_save(s, &row, &err), err);
}

static void test_nodes(void **state)
{
    struct store *s = store_dir_open(*state);
    assert_nodes(s, "");
    save(s, "n2", true, "a fan is loud; '); DROP TABLE node; --");
    save(s, "n1", false, NULL);
    save(s, "n\xff", true, "");
    store_dir_commit(s);
    assert_nodes(s, "n1=0() n2=1(a fan is loud; '); DROP TABLE node; --) n\xef\xbf\xbd=1() ");
    save(s, "n2", false, "");
    save(s, "n1", true, "moved");
    save(s, "n1", true, "moved away");
    store_dir_commit(s);
    store_close(s);
    s = store_dir_open(*state);
    assert_nodes(s, "n1=1(moved away) n2=0() n\xef\xbf\xbd=1() ");
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static int stop_at_once(void *ctx, const struct node_row *row, struct err *err)
{
    see_node(ctx, row, err);
    return 1;
}

static int fail_always(void *ctx, const struct node_row *row, struct err *err)
{
    (void)ctx;
    return err_set(err, ERR_LIMIT, "enough of %s", row->name);
}

static void test_what_a_callback_returns(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct str seen = {0};
    save(s, "n1", true, "");
    save(s, "n2", true, "");
    assert_ok(store_node_list(s, stop_at_once, &seen, &err), err);
    assert_string_equal(seen.at, "n1=1() ");
    assert_error(store_node_list(s, fail_always, NULL, &err), err, ERR_LIMIT, "enough of n1");
    str_done(&seen);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_nodes),
    STORE_TEST(test_what_a_callback_returns),
};

int main(void)
{
    return RUN(tests);
}
