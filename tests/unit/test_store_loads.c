/* Tests of the samples of the cluster's load in the store. */
#include "store/loads.h"

#include "store/query.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define DAY (86400 * SECOND)

struct seen_loads {
    usec_t at[512];
    int64_t held[512];
    unsigned n, nodes;
};

static int see_load(void *ctx, const struct load_row *row, struct err *err)
{
    struct seen_loads *seen = ctx;
    (void)err;
    if (*row->node) {
        /* The node's sample follows that of the cluster, and is the same here. */
        assert_true(seen->n && seen->at[seen->n - 1] == row->at);
        assert_true(row->cpus_held == seen->held[seen->n - 1] && row->waiting == 0);
        seen->nodes++;
        return 0;
    }
    assert_true(seen->n < COUNT_OF(seen->at));
    seen->at[seen->n] = row->at;
    seen->held[seen->n++] = row->cpus_held;
    return 0;
}

static struct seen_loads list(struct store *s, usec_t since, usec_t step)
{
    struct err err;
    struct seen_loads seen = {0};
    assert_ok(store_load_list(s, since, step, see_load, &seen, &err), err);
    assert_int_equal(seen.n, seen.nodes);
    return seen;
}

static void add(struct store *s, usec_t at, int64_t held)
{
    struct err err;
    struct load_row row = {at, 2, 3, 4000, held, 0, 0, "", NAN, 0, NAN, 0};
    assert_ok(store_load_add(s, &row, &err), err);
    row.node = "n1";
    assert_ok(store_load_add(s, &row, &err), err);
}

static void test_list(void **state)
{
    struct store *s = store_dir_open(*state);
    assert_int_equal(list(s, 0, 1).n, 0);
    for (int i = 1; i <= 10; i++)
        add(s, i * MINUTE, i * 100);
    add(s, 10 * MINUTE, 7); /* the clock was set back */
    struct seen_loads seen = list(s, 0, 1);
    assert_int_equal(seen.n, 10);
    assert_true(seen.held[9] == 7);
    /* The sample that holds at the time, and those after it. */
    seen = list(s, 5 * MINUTE + 1, 1);
    assert_true(seen.n == 6 && seen.at[0] == 5 * MINUTE);
    /* The last of each five minutes. */
    seen = list(s, 0, 5 * MINUTE);
    assert_true(seen.n == 3 && seen.at[0] == 4 * MINUTE && seen.at[1] == 9 * MINUTE);
    store_close(s);
}

static void test_thinning(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    usec_t begin = 100 * DAY, now = begin;
    for (; now < begin + DAY + 60 * MINUTE; now += 30 * SECOND) {
        add(s, now, now / SECOND);
        assert_ok(store_load_thin(s, now, now - 30 * DAY, &err), err);
    }
    /* A day of samples each 30 s; of what is older, the last of each five minutes. */
    struct seen_loads seen = list(s, begin, MINUTE * 5);
    assert_true(seen.at[0] == begin + 4 * MINUTE + 30 * SECOND);
    seen = list(s, begin + DAY + 30 * MINUTE, 1);
    assert_int_equal(seen.n, 60);
    store_dir_yields(s->db, "SELECT count(*) FROM load WHERE at < 8643300000000", "11 ");
    store_dir_yields(s->db, "SELECT count(*) FROM node_load WHERE at < 8643300000000", "11 ");
    assert_ok(store_load_thin(s, now, now - 2 * MINUTE, &err), err);
    assert_int_equal(list(s, 0, 1).n, 4);
    store_close(s);
}

static const struct CMUnitTest tests[] = {STORE_TEST(test_list), STORE_TEST(test_thinning)};

int main(void)
{
    return RUN(tests);
}
