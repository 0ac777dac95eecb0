/* Tests of the values by which the members of a group are compared. */
#include "store/rungs.h"

#include <math.h>
#include <stdio.h>

#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

struct seen {
    struct {
        int64_t job;
        double value;
    } at[8];
    unsigned n;
};

static int see(void *ctx, int64_t job, enum job_state state, double value, struct err *err)
{
    struct seen *seen = ctx;
    (void)err;
    assert_int_equal(state, JOB_RUNNING);
    seen->at[seen->n].job = job;
    seen->at[seen->n++].value = value;
    return 0;
}

static int64_t add_member(struct store *s, const char *user, const char *group)
{
    struct job_row row = store_dir_job(0);
    struct err err;
    int64_t id = 0;
    row.user = user;
    row.state = JOB_RUNNING;
    snprintf(row.group_name, sizeof row.group_name, "%s", group);
    assert_ok(store_dir_submit(s, &row, &id, &err), err);
    return id;
}

static struct seen list(struct store *s, int64_t step)
{
    struct seen seen = {0};
    struct err err;
    assert_ok(store_rung_list(s, "ann", "lr", step, see, &seen, &err), err);
    return seen;
}

/* By id, of one user's group and one step; the first value stays. */
static void test_rungs(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t a = add_member(s, "ann", "lr"), b = add_member(s, "ann", "lr");
    int64_t others[] = {add_member(s, "bob", "lr"), add_member(s, "ann", "bs"),
                        add_member(s, "ann", "")};
    assert_ok(store_rung_add(s, b, 100, 0.25, &err), err);
    assert_ok(store_rung_add(s, a, 100, NAN, &err), err);
    assert_ok(store_rung_add(s, b, 100, 7, &err), err);
    assert_ok(store_rung_add(s, b, 200, 0.125, &err), err);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_ok(store_rung_add(s, others[i], 100, 1, &err), err);
    struct seen first = list(s, 100), second = list(s, 200);
    assert_true(first.n == 2 && first.at[0].job == a && isnan(first.at[0].value));
    assert_true(first.at[1].job == b && first.at[1].value == 0.25);
    assert_true(second.n == 1 && second.at[0].value == 0.125);
    assert_int_equal(list(s, 300).n, 0);
    assert_error(store_rung_add(s, 99, 100, 1, &err), err, ERR_NOT_FOUND, "job 99");
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_rungs),
};

int main(void)
{
    return RUN(tests);
}
