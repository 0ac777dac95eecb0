/* After a migration from before schema 3 the server fills in what only the requests tell. */
#include "server/upgrade.h"

#include "store/attempts.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/old_store.h"
#include "support/test.h"

#define HOUR (3600 * USEC_PER_SEC)

static void upgrade(struct store *s)
{
    struct err err;
    assert_ok(upgrade_requests(s, &err), err);
    store_dir_commit(s);
}

static void assert_terms(const struct job_row *row, int64_t cpus_min, int64_t cpus_max,
                         int64_t gpus_min, int64_t gpus_max, int64_t memory_mb, usec_t time_limit)
{
    assert_int_equal(row->cpus_min, cpus_min);
    assert_int_equal(row->cpus_max, cpus_max);
    assert_int_equal(row->gpus_min, gpus_min);
    assert_int_equal(row->gpus_max, gpus_max);
    assert_int_equal(row->memory_mb, memory_mb);
    assert_true(row->time_limit == time_limit);
}

/* "elastic" asked for 1 to 2 CPUs and was resized to 1 by hand; the time limit of "second"
 * was changed from 2 to 3 hours, and its priority to 2. */
static void test_terms(void **state)
{
    struct store *s = old_store_open(*state, "");
    struct store_dir_rows before = old_store_jobs(s);
    assert_int_equal(before.rows.at[3].priority, 2);
    upgrade(s);
    struct store_dir_rows all = old_store_jobs(s);
    for (size_t i = 0; i < all.rows.n; i++)
        assert_terms(&all.rows.at[i], 1000, 1000, 0, 0, 0, i + 1 == 4 ? 3 * HOUR : 0);
    /* All else is as it was. */
    for (size_t i = 0; i < all.rows.n; i++) {
        struct job_row *was = &before.rows.at[i];
        was->cpus_min = was->cpus_max = 1000;
        was->time_limit = all.rows.at[i].time_limit;
        store_dir_same_job(&all.rows.at[i], was);
    }
    store_dir_rows_done(&before);
    store_dir_rows_done(&all);
    assert_null(store_meta_get(s, STORE_META_REQUESTS));
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

/* It happens once: later changes of users stay. */
static void test_again(void **state)
{
    struct store *s = old_store_open(*state, "");
    struct err err;
    upgrade(s);
    struct store_dir_rows all = old_store_jobs(s);
    all.rows.at[3].time_limit = 0;
    assert_ok(store_job_save(s, &all.rows.at[3], &err), err);
    store_dir_commit(s);
    store_dir_rows_done(&all);
    store_close(s);
    s = store_dir_open(*state);
    upgrade(s);
    all = old_store_jobs(s);
    assert_terms(&all.rows.at[3], 1000, 1000, 0, 0, 0, 0);
    store_dir_rows_done(&all);
    store_close(s);
}

/* Requests of every kind; one of them, of a job that is over, wants GPUs that this cluster
 * may not have. */
static void test_requests(void **state)
{
    struct store *s = old_store_open(
        *state, "UPDATE spec SET text = '{\"command\":[\"a\"],\"gpus\":\"1-2\",\"cpus\":3,"
                "  \"gpu_type\":\"h100\",\"memory\":\"2G\",\"time_limit\":\"90m\"}' WHERE job = 1;"
                "UPDATE spec SET text = 'no JSON' WHERE job = 2;"
                "UPDATE job SET cpus_min = 0, cpus_max = 0 WHERE id = 3;"
                "UPDATE spec SET text = '{\"command\":[\"a\"],\"colour\":\"red\"}' WHERE job = 4;"
                "UPDATE spec SET text = '{\"command\":[\"a\"],\"resize\":\"torchrun\",\"cpus\":2,"
                "  \"workers\":\"2-3\"}' WHERE job = 5;"
                "DELETE FROM spec WHERE job = 6");
    upgrade(s);
    struct store_dir_rows all = old_store_jobs(s);
    assert_terms(&all.rows.at[0], 3000, 3000, 1000, 2000, 2048, HOUR * 3 / 2);
    assert_terms(&all.rows.at[1], 0, 0, 0, 0, 0, 0);
    assert_terms(&all.rows.at[2], 1000, 2000, 0, 0, 0, 0);
    assert_terms(&all.rows.at[3], 0, 0, 0, 0, 0, 0);
    assert_terms(&all.rows.at[4], 4000, 6000, 0, 0, 0, 0);
    assert_terms(&all.rows.at[5], 0, 0, 0, 0, 0, 0);
    assert_terms(&all.rows.at[6], 1000, 1000, 0, 0, 0, 0);
    store_dir_rows_done(&all);
    assert_null(store_meta_get(s, STORE_META_REQUESTS));
    store_close(s);
}

static int see_grace(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)err;
    ((usec_t *)ctx)[row->n] = row->grace;
    return 0;
}

/* A stop that was under way goes on with the job's own grace. */
static void test_grace(void **state)
{
    struct store *s = old_store_open(
        *state, "UPDATE job SET state = 'stopping' WHERE id IN (2, 4);"
                "UPDATE spec SET text = '{\"command\":[\"a\"],\"grace\":\"90s\"}' WHERE job = 4;"
                "UPDATE attempt SET state = 'stopping', places = json_set(places, '$.stop',"
                "  'cancel') WHERE job = 4");
    struct err err;
    usec_t grace[3] = {0};
    upgrade(s);
    assert_ok(store_attempt_list(s, 4, see_grace, grace, &err), err);
    assert_true(grace[1] == 90 * USEC_PER_SEC);
    /* Of those that are over nothing is wanted. */
    assert_ok(store_attempt_list(s, 2, see_grace, grace, &err), err);
    assert_true(!grace[1] && !grace[2]);
    store_close(s);
}

/* A store that cannot be read or written fails the upgrade; it is done when it can. */
static void test_store_that_fails(void **state)
{
    struct store_dir *d = *state;
    struct store *s = old_store_open(d, ""), *reader = NULL;
    struct err err;
    store_close(s);
    assert_ok(store_open_to_read(d->path, &reader, &err), err);
    assert_error(upgrade_requests(reader, &err), err, ERR_IO, "cannot write");
    store_close(reader);
    s = store_dir_open(d);
    upgrade(s);
    struct store_dir_rows all = old_store_jobs(s);
    assert_terms(&all.rows.at[3], 1000, 1000, 0, 0, 0, 3 * HOUR);
    store_dir_rows_done(&all);
    store_close(s);
}

static void test_new_database(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    assert_null(store_meta_get(s, STORE_META_REQUESTS));
    assert_ok(upgrade_requests(s, &err), err);
    assert_false(store_dirty(s));
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_terms),
    STORE_TEST(test_again),
    STORE_TEST(test_requests),
    STORE_TEST(test_grace),
    STORE_TEST(test_store_that_fails),
    STORE_TEST(test_new_database),
};

int main(void)
{
    return RUN(tests);
}
