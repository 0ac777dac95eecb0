/* Tests of what the store tells newest first, and of the dependencies of one job. */
#include "support/test.h"
#include "store/deps.h"
#include "store/events.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/store.h"
#include "support/store_dir.h"

struct seen {
    int64_t at[64];
    unsigned n, stop_at; /* 0 = do not stop */
};

static int see(struct seen *s, int64_t number)
{
    s->at[s->n++] = number;
    return s->n == s->stop_at;
}

static int see_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                     const char *json, struct err *err)
{
    (void)at;
    (void)job;
    (void)err;
    assert_string_equal(kind, "note");
    assert_string_equal(json, "{}");
    return see(ctx, seq);
}

static void test_events(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t seq = 0;
    struct seen none = {0}, all = {0}, some = {0}, of_one = {0}, stopped = {.stop_at = 2};
    assert_ok(store_event_latest(s, 0, 1, see_event, &none, &err), err);
    assert_int_equal(none.n, 0);
    for (int i = 0; i < 10; i++)
        assert_ok(store_event_add(s, i, i % 3, "note", "{}", &seq, &err), err);
    assert_ok(store_event_latest(s, 0, 0, see_event, &all, &err), err);
    assert_int_equal(all.n, 10);
    assert_int_equal(all.at[0], 10);
    assert_int_equal(all.at[9], 1);
    assert_ok(store_event_latest(s, 0, 1, see_event, &some, &err), err);
    assert_int_equal(some.n, 1);
    assert_int_equal(some.at[0], 10);
    assert_ok(store_event_latest(s, 2, 2, see_event, &of_one, &err), err);
    assert_int_equal(of_one.n, 2);
    assert_int_equal(of_one.at[0], 9);
    assert_int_equal(of_one.at[1], 6);
    assert_ok(store_event_latest(s, 0, 0, see_event, &stopped, &err), err);
    assert_int_equal(stopped.n, 2);
    store_close(s);
}

static int see_row(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                   struct err *err)
{
    (void)err;
    assert_int_equal(boot, seq <= 6 ? 1 : 2);
    assert_string_equal(kind, "plan");
    assert_string_equal(data, "{}");
    return see(ctx, seq);
}

static void test_journal(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t boot = 0;
    struct seen none = {0}, plans = {0}, last = {0};
    assert_ok(store_journal_latest(s, "plan", 5, see_row, &none, &err), err);
    assert_int_equal(none.n, 0);
    for (int i = 0; i < 2; i++) {
        assert_ok(store_boot_begin(s, i, &boot, &err), err);
        for (int k = 0; k < 6; k++)
            assert_ok(store_journal_add(s, k % 2 ? "plan" : "event", "{}", &err), err);
    }
    assert_ok(store_journal_latest(s, "plan", 0, see_row, &plans, &err), err);
    assert_int_equal(plans.n, 6);
    assert_int_equal(plans.at[0], 12);
    assert_int_equal(plans.at[5], 2);
    assert_ok(store_journal_latest(s, "plan", 4, see_row, &last, &err), err);
    assert_int_equal(last.n, 4);
    assert_int_equal(last.at[3], 6);
    store_close(s);
}

static int see_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)job;
    (void)err;
    return see(ctx, kind * 100 + on);
}

static void test_deps_of_one(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct seen deps = {0}, none = {0};
    int64_t ids[3];
    for (int i = 0; i < 3; i++) {
        struct job_row row = store_dir_job(i + 1);
        row.state = JOB_DONE;
        assert_ok(store_dir_submit(s, &row, &ids[i], &err), err);
    }
    assert_ok(store_dep_add(s, ids[2], 1, ids[1], &err), err);
    assert_ok(store_dep_add(s, ids[2], 1, ids[0], &err), err);
    assert_ok(store_dep_add(s, ids[2], 0, 0, &err), err);
    assert_ok(store_dep_add(s, ids[1], 1, ids[0], &err), err);
    assert_ok(store_dep_get(s, ids[2], see_dep, &deps, &err), err);
    assert_int_equal(deps.n, 3);
    assert_int_equal(deps.at[0], 0);
    assert_int_equal(deps.at[1], 100 + ids[0]);
    assert_int_equal(deps.at[2], 100 + ids[1]);
    assert_ok(store_dep_get(s, ids[0], see_dep, &none, &err), err);
    assert_int_equal(none.n, 0);
    store_close(s);
}

static const struct CMUnitTest tests[] = {STORE_TEST(test_events), STORE_TEST(test_journal),
                                          STORE_TEST(test_deps_of_one)};

int main(void)
{
    return RUN(tests);
}
