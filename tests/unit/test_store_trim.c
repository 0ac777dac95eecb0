/* Tests of what is trimmed of events, samples and the journal, and what stays. */
#include "store/events.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/samples.h"
#include "store/store.h"
#include "store/trim.h"
#include "support/store_dir.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC

static int64_t add_event(struct store *s, usec_t at, int64_t job)
{
    struct err err;
    int64_t seq = 0;
    assert_ok(store_event_add(s, at, job, "note", "{}", &seq, &err), err);
    return seq;
}

static void add_sample(struct store *s, int64_t job, uint32_t attempt, int64_t second)
{
    struct err err;
    struct sample_row row = {.at = second * SECOND, .step = (double)second, .metric = NAN};
    assert_ok(store_sample_add(s, job, attempt, &row, &err), err);
}

static int64_t begin_boot(struct store *s, usec_t at)
{
    struct err err;
    int64_t boot = 0;
    assert_ok(store_boot_begin(s, at, &boot, &err), err);
    return boot;
}

static unsigned count_events(struct store *s, int64_t job)
{
    struct err err;
    unsigned n = 0;
    assert_ok(store_event_list(s, 0, job, 0, store_dir_count_event, &n, &err), err);
    return n;
}

static unsigned count_samples(struct store *s, int64_t job)
{
    struct err err;
    unsigned n = 0;
    assert_ok(store_sample_list(s, job, store_dir_count_sample, &n, &err), err);
    return n;
}

static unsigned count_entries(struct store *s, int64_t boot)
{
    struct err err;
    unsigned n = 0;
    assert_ok(store_journal_list(s, boot, store_dir_count_entry, &n, &err), err);
    return n;
}

static uint64_t trim_all(struct store *s, usec_t before)
{
    struct err err;
    uint64_t all = 0, removed;
    do {
        assert_ok(store_trim(s, before, &removed, &err), err);
        assert_true(removed <= STORE_TRIM_STEP);
        all += removed;
        store_dir_commit(s);
    } while (removed);
    return all;
}

static void test_trim_of_jobs(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t old = store_dir_add_job(s, JOB_DONE, 10 * SECOND),
            young = store_dir_add_job(s, JOB_FAILED, 30 * SECOND);
    int64_t running = store_dir_add_job(s, JOB_RUNNING, 0);
    const int64_t jobs[] = {old, young, running, 0};
    for (size_t k = 0; k < COUNT_OF(jobs); k++) {
        for (int i = 0; i < 30; i++) {
            add_event(s, i * SECOND, jobs[k]);
            if (jobs[k])
                add_sample(s, jobs[k], 1, i);
        }
    }
    store_dir_commit(s);
    assert_int_equal(trim_all(s, 0), 0);
    /* The old job's events, samples and itself; what is about no job, by its time. */
    assert_int_equal(trim_all(s, 20 * SECOND), 30 + 30 + 1 + 20);
    assert_int_equal(count_events(s, old), 0);
    assert_int_equal(count_samples(s, old), 0);
    assert_int_equal(count_events(s, young), 30);
    assert_int_equal(count_samples(s, young), 30);
    assert_int_equal(count_events(s, running), 30);
    assert_int_equal(trim_all(s, 20 * SECOND), 0);
    /* One that runs again is trimmed again. */
    struct job_row row = store_dir_job(1);
    row.id = old;
    row.state = JOB_RUNNING;
    assert_ok(store_job_save(s, &row, &err), err);
    add_sample(s, old, 2, 40);
    add_event(s, 40 * SECOND, old);
    assert_int_equal(trim_all(s, 20 * SECOND), 0);
    row.state = JOB_DONE;
    row.ended = 50 * SECOND;
    assert_ok(store_job_save(s, &row, &err), err);
    add_event(s, 50 * SECOND, running);
    assert_int_equal(trim_all(s, 51 * SECOND), 3 + 61 + 10);
    assert_int_equal(count_events(s, 0), 31);
    assert_int_equal(add_event(s, 1, 0), 4 * 30 + 3);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static void test_trim_in_steps(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    uint64_t removed;
    int64_t job = store_dir_add_job(s, JOB_DONE, 1);
    for (int i = 0; i < STORE_TRIM_STEP + 10; i++)
        add_event(s, 1, job);
    for (int i = 0; i < STORE_TRIM_STEP; i++)
        store_dir_add_job(s, JOB_CANCELLED, 1);
    add_event(s, 2, 0);
    store_dir_commit(s);
    assert_ok(store_trim(s, 2, &removed, &err), err);
    assert_int_equal(removed, STORE_TRIM_STEP);
    store_rollback(s);
    assert_int_equal(trim_all(s, 2), 2 * STORE_TRIM_STEP + 11);
    assert_int_equal(count_events(s, 0), 1);
    store_close(s);
}

static void test_trim_of_the_journal(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    for (usec_t at = 10; at <= 40; at += 10) {
        begin_boot(s, at * SECOND);
        for (int i = 0; i < 700; i++)
            assert_ok(store_journal_add(s, "event", "{}", &err), err);
    }
    store_dir_commit(s);
    /* The second boot was under way then: it and what follows can be replayed. */
    assert_int_equal(trim_all(s, 25 * SECOND), 700);
    assert_int_equal(count_entries(s, 1), 0);
    assert_int_equal(count_entries(s, 2), 700);
    assert_int_equal(trim_all(s, 10 * SECOND), 0);
    /* The last boot stays, however old it is. */
    assert_int_equal(trim_all(s, 1000 * SECOND), 1400);
    assert_int_equal(count_entries(s, 4), 700);
    assert_int_equal(begin_boot(s, 50 * SECOND), 5);
    store_close(s);
}

/* The newest event stays however old it is, as numbers go on from it: also when it is about
 * a job, which is then trimmed as soon as there is a newer event. */
static void test_numbers_of_events_go_on(void **state)
{
    struct store *s = store_dir_open(*state);
    int64_t job = store_dir_add_job(s, JOB_DONE, 10 * SECOND);
    for (int i = 0; i < 3; i++)
        add_event(s, i, 0);
    assert_int_equal(trim_all(s, INT64_MAX), 2 + 1);
    assert_int_equal(count_events(s, 0), 1);
    assert_int_equal(add_event(s, 3, 0), 4);
    int64_t other = store_dir_add_job(s, JOB_DONE, 10 * SECOND);
    for (int i = 0; i < 3; i++) {
        add_event(s, i, other);
        add_sample(s, other, 1, i);
    }
    assert_int_equal(trim_all(s, INT64_MAX), 2);
    assert_int_equal(count_events(s, other), 3);
    assert_int_equal(count_samples(s, other), 3);
    store_close(s);
    s = store_dir_open(*state);
    assert_int_equal(add_event(s, 3, job), 8);
    assert_int_equal(trim_all(s, INT64_MAX), 3 + 3 + 1);
    assert_int_equal(count_events(s, 0), 1);
    assert_int_equal(add_event(s, 3, 0), 9);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static int keep_seq(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                    struct err *err)
{
    (void)boot, (void)kind, (void)data, (void)err;
    *(int64_t *)ctx = seq;
    return 0;
}

/* A boot that has no row yet makes all before it old, but for the newest. */
static void test_numbers_of_the_journal_go_on(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t seq = 0;
    begin_boot(s, 10 * SECOND);
    for (int i = 0; i < 5; i++)
        assert_ok(store_journal_add(s, "event", "{}", &err), err);
    begin_boot(s, 20 * SECOND);
    assert_int_equal(trim_all(s, INT64_MAX), 4);
    assert_int_equal(count_entries(s, 1), 1);
    assert_ok(store_journal_add(s, "boot", "{}", &err), err);
    assert_ok(store_journal_list(s, 2, keep_seq, &seq, &err), err);
    assert_int_equal(seq, 6);
    assert_int_equal(trim_all(s, INT64_MAX), 1);
    assert_int_equal(count_entries(s, 1), 0);
    assert_int_equal(count_entries(s, 2), 1);
    assert_int_equal(trim_all(s, INT64_MAX), 0);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_trim_of_jobs),
    STORE_TEST(test_trim_in_steps),
    STORE_TEST(test_trim_of_the_journal),
    STORE_TEST(test_numbers_of_events_go_on),
    STORE_TEST(test_numbers_of_the_journal_go_on),
};

int main(void)
{
    return RUN(tests);
}
