/* Tests of protocol/claim: what the text of a claim means. */
#include "protocol/claim.h"

#include "support/test.h"

static void refused(const char *text)
{
    struct claim c;
    struct err err = {0};
    if (claim_parse(text, false, &c, &err) == 0)
        fail_msg("'%s' is taken for a claim of process %ld", text, (long)c.pid);
    assert_int_equal(err.code, ERR_INVALID);
}

static void test_claims(void **state)
{
    struct claim c;
    struct err err;
    (void)state;
    assert_ok(claim_parse("17 4711\nleader 18 4712\n", true, &c, &err), err);
    assert_int_equal(c.state, CLAIM_HELD);
    assert_int_equal(c.pid, 17);
    assert_int_equal(c.start, 4711);
    assert_int_equal(c.leader, 18);
    assert_int_equal(c.leader_start, 4712);
    assert_ok(claim_parse("17 4711\n", false, &c, &err), err);
    assert_int_equal(c.state, CLAIM_DEAD);
    assert_int_equal(c.leader, 0);
    assert_ok(claim_parse("void\n", false, &c, &err), err);
    assert_int_equal(c.state, CLAIM_VOID);
    assert_int_equal(c.pid, 0);
}

/* A pid goes into signals: none may stand for a group, for everybody, or for another process. */
static void test_pids_that_are_none(void **state)
{
    (void)state;
    refused("");
    refused("17");
    refused("0 4711\n");
    refused("-1 4711\n");
    refused("4294967297 4711\n");
    refused("voidable\n");
}

static void test_leaders_that_are_none(void **state)
{
    static const char *const texts[] = {"17 4711\nleader -1 5\n", "17 4711\nleader 0 5\n",
                                        "17 4711\nleader 4294967297 5\n", "17 4711\nleader 18"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct claim c;
        struct err err;
        assert_ok(claim_parse(texts[i], true, &c, &err), err);
        assert_int_equal(c.pid, 17);
        assert_int_equal(c.leader, 0);
    }
}

static const struct CMUnitTest tests[] = {TEST(test_claims), TEST(test_pids_that_are_none),
                                          TEST(test_leaders_that_are_none)};

int main(void)
{
    return RUN(tests);
}
