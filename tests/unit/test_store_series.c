/* Tests of events, samples and the journal. */
#include "store/events.h"
#include "store/journal.h"
#include "store/samples.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC

/* ---- events -------------------------------------------------------------- */

struct seen_event {
    int64_t seq, job;
    usec_t at;
    char kind[32], json[64];
};

struct seen_events {
    struct seen_event at[64];
    unsigned n, total;
};

static int see_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                     const char *json, struct err *err)
{
    (void)err;
    struct seen_events *e = ctx;
    struct seen_event *to = &e->at[e->n < COUNT_OF(e->at) ? e->n++ : 0];
    *to = (struct seen_event){.seq = seq, .at = at, .job = job};
    snprintf(to->kind, sizeof to->kind, "%s", kind);
    snprintf(to->json, sizeof to->json, "%s", json);
    e->total++;
    return 0;
}

static struct seen_events list_events(struct store *s, int64_t after, int64_t job, uint32_t limit)
{
    struct err err;
    struct seen_events e = {0};
    assert_ok(store_event_list(s, after, job, limit, see_event, &e, &err), err);
    return e;
}

static int64_t add_event(struct store *s, usec_t at, int64_t job)
{
    struct err err;
    int64_t seq = 0;
    assert_ok(store_event_add(s, at, job, "note", "{}", &seq, &err), err);
    return seq;
}

static void test_events(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t seq = 0;
    for (int i = 1; i <= 10; i++) {
        assert_ok(store_event_add(s, i * SECOND, i % 3, "started", "{\"a\":\"\xff\"}", &seq, &err),
                  err);
        assert_int_equal(seq, i);
    }
    store_dir_commit(s);
    struct seen_events e = list_events(s, 0, 0, 0);
    assert_int_equal(e.n, 10);
    assert_int_equal(e.at[9].seq, 10);
    assert_int_equal(e.at[9].job, 1);
    assert_true(e.at[9].at == 10 * SECOND);
    assert_string_equal(e.at[9].kind, "started");
    assert_string_equal(e.at[9].json, "{\"a\":\"\xef\xbf\xbd\"}");
    e = list_events(s, 7, 0, 2);
    assert_int_equal(e.n, 2);
    assert_int_equal(e.at[0].seq, 8);
    e = list_events(s, 2, 2, 0);
    assert_int_equal(e.n, 2);
    assert_int_equal(e.at[0].seq, 5);
    assert_int_equal(e.at[1].seq, 8);
    assert_int_equal(list_events(s, 10, 0, 0).n, 0);
    assert_int_equal(list_events(s, 0, 99, 0).n, 0);
    /* A number that nobody was told of is given again, one that was told never. */
    add_event(s, 11 * SECOND, 0);
    store_rollback(s);
    assert_int_equal(add_event(s, 11 * SECOND, 0), 11);
    store_close(s);
}

/* ---- samples ------------------------------------------------------------- */

struct seen_samples {
    VEC(struct sample_row) rows;
    VEC(uint32_t) attempts;
    char metrics[3][32]; /* of the first */
};

static int see_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    (void)err;
    struct seen_samples *seen = ctx;
    if (seen->rows.n < COUNT_OF(seen->metrics))
        snprintf(seen->metrics[seen->rows.n], sizeof seen->metrics[0], "%s", row->metrics);
    VEC_PUSH(&seen->rows, *row);
    VEC_PUSH(&seen->attempts, attempt);
    return 0;
}

static void seen_samples_done(struct seen_samples *seen)
{
    VEC_DONE(&seen->rows);
    VEC_DONE(&seen->attempts);
}

static void list_samples(struct store *s, int64_t job, struct seen_samples *seen)
{
    struct err err;
    seen->rows.n = seen->attempts.n = 0;
    assert_ok(store_sample_list(s, job, see_sample, seen, &err), err);
}

static void add_sample(struct store *s, int64_t job, uint32_t attempt, int64_t second)
{
    struct err err;
    struct sample_row row = {.at = second * SECOND, .step = (double)second, .metric = NAN};
    assert_ok(store_sample_add(s, job, attempt, &row, &err), err);
}

static void test_sample_columns(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct seen_samples seen = {0};
    static const struct sample_row odd[] = {
        {0},
        {INT64_MIN, -1, -INFINITY, 0.5, 1e300, -1e-300, 9007199254740992.0, 3, "{\"acc\":1.0}"},
        {INT64_MAX, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NULL},
    };
    int64_t job = store_dir_add_job(s, JOB_RUNNING, 0);
    for (size_t i = 0; i < COUNT_OF(odd); i++)
        assert_ok(store_sample_add(s, job, UINT32_MAX, &odd[i], &err), err);
    assert_error(store_sample_add(s, 99, 1, &odd[0], &err), err, ERR_NOT_FOUND, "no job 99");
    list_samples(s, job, &seen);
    assert_int_equal(seen.rows.n, COUNT_OF(odd));
    for (size_t i = 0; i < 2; i++)
        assert_memory_equal(&seen.rows.at[i], &odd[i], offsetof(struct sample_row, metrics));
    assert_string_equal(seen.metrics[0], "");
    assert_string_equal(seen.metrics[1], "{\"acc\":1.0}");
    assert_int_equal(seen.attempts.at[0], UINT32_MAX);
    assert_true(isnan(seen.rows.at[2].step) && isnan(seen.rows.at[2].net_bytes));
    list_samples(s, 99, &seen);
    assert_int_equal(seen.rows.n, 0);
    seen_samples_done(&seen);
    store_close(s);
}

/* What must be there of the first `count` samples, worked out again from the rule. */
static bool is_kept(int64_t number, int64_t count)
{
    int64_t step = number & -number, grid = 1;
    while (count / grid > 1024)
        grid *= 2;
    /* Of the same level are this one and each that is two steps on. */
    return step >= grid || (count - number) / (2 * step) + 1 <= 64;
}

static void assert_thinned(struct store *s, int64_t job, int64_t count, struct seen_samples *seen)
{
    size_t at = 0;
    list_samples(s, job, seen);
    for (int64_t number = 1; number <= count; number++) {
        bool there = at < seen->rows.n && seen->rows.at[at].at == number * SECOND;
        if (there != is_kept(number, count))
            fail_msg("of %lld samples, %lld is %sthere", (long long)count, (long long)number,
                     there ? "" : "not ");
        at += there;
    }
    assert_int_equal(at, seen->rows.n);
    assert_true(seen->rows.n < 2000);
}

static void test_days_of_samples(void **state)
{
    struct store *s = store_dir_open(*state);
    struct seen_samples seen = {0};
    enum { DAYS = 2 * 24 * 3600 };
    int64_t job = store_dir_add_job(s, JOB_RUNNING, 0),
            other = store_dir_add_job(s, JOB_RUNNING, 0);
    add_sample(s, other, 1, 1);
    for (int64_t i = 1; i <= DAYS; i++) {
        add_sample(s, job, 1 + (uint32_t)(i / 100000), i);
        if (i <= 1100 || i % 50021 == 0 || i == 2050 || i == 131200 || i == DAYS)
            assert_thinned(s, job, i, &seen);
        if (i % 10000 == 0)
            store_dir_commit(s);
    }
    /* Evenly over the whole, every second of the last two minutes. */
    for (size_t i = 1; i < seen.rows.n; i++)
        assert_true(seen.rows.at[i].at - seen.rows.at[i - 1].at <= 256 * SECOND);
    for (int i = 1; i <= 120; i++)
        assert_true(seen.rows.at[seen.rows.n - (size_t)i].at == (DAYS + 1 - i) * SECOND);
    assert_int_equal(seen.attempts.at[0], 1);
    assert_int_equal(seen.attempts.at[seen.attempts.n - 1], 2);
    list_samples(s, other, &seen);
    assert_int_equal(seen.rows.n, 1);
    seen_samples_done(&seen);
    store_close(s);
}

/* A year is too long to be tried out: what the rule leaves of it. */
static void test_year_of_samples(void **state)
{
    enum { YEAR = 365 * 24 * 3600 };
    unsigned n = 0;
    (void)state;
    for (int64_t i = 1; i <= YEAR; i++)
        n += is_kept(i, YEAR);
    assert_true(n > 1000 && n < 2000);
}

/* ---- journal ------------------------------------------------------------- */

struct seen_journal {
    int64_t last;
    unsigned n;
    char data[256]; /* "BOOT:KIND=DATA " of each */
};

static int see_entry(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                     struct err *err)
{
    (void)err;
    struct seen_journal *j = ctx;
    assert_true(seq > j->last);
    j->last = seq;
    j->n++;
    size_t n = strlen(j->data);
    snprintf(j->data + n, sizeof j->data - n, "%lld:%s=%s ", (long long)boot, kind, data);
    return 0;
}

static struct seen_journal list_journal(struct store *s, int64_t boot)
{
    struct err err;
    struct seen_journal j = {0};
    assert_ok(store_journal_list(s, boot, see_entry, &j, &err), err);
    return j;
}

static int64_t begin_boot(struct store *s, usec_t at)
{
    struct err err;
    int64_t boot = 0;
    assert_ok(store_boot_begin(s, at, &boot, &err), err);
    return boot;
}

static void add_entry(struct store *s, const char *kind, const char *data)
{
    struct err err;
    assert_ok(store_journal_add(s, kind, data, &err), err);
}

/* A row belongs to the newest boot, whether boots before have rows or not. */
static void test_journal(void **state)
{
    struct store *s = store_dir_open(*state);
    assert_int_equal(begin_boot(s, 1), 1);
    add_entry(s, "submit", "1");
    add_entry(s, "plan", NULL);
    assert_int_equal(begin_boot(s, 2), 2);
    assert_int_equal(begin_boot(s, 2), 3);
    add_entry(s, "end", "x\ny");
    assert_int_equal(begin_boot(s, 1), 4);
    store_dir_commit(s);
    assert_string_equal(list_journal(s, 1).data, "1:submit=1 1:plan= ");
    assert_int_equal(list_journal(s, 2).n, 0);
    assert_string_equal(list_journal(s, 3).data, "3:end=x\ny ");
    assert_int_equal(list_journal(s, 4).n, 0);
    assert_int_equal(list_journal(s, 99).n, 0);
    assert_string_equal(list_journal(s, 0).data, "1:submit=1 1:plan= 3:end=x\ny ");
    /* What is undone leaves no gap: rows and boots go on from what is there. */
    add_entry(s, "undone", "");
    begin_boot(s, 3);
    store_rollback(s);
    assert_int_equal(begin_boot(s, 3), 5);
    add_entry(s, "boot", "");
    assert_string_equal(list_journal(s, 5).data, "5:boot= ");
    assert_int_equal(list_journal(s, 5).last, 4);
    assert_int_equal(list_journal(s, 4).n, 0);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static int fail_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                      const char *json, struct err *err)
{
    (void)ctx, (void)seq, (void)at, (void)job, (void)kind, (void)json;
    return err_set(err, ERR_INVALID, "enough");
}

static int fail_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    (void)ctx, (void)attempt, (void)row;
    return err_set(err, ERR_INVALID, "enough");
}

static int fail_entry(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                      struct err *err)
{
    (void)ctx, (void)seq, (void)boot, (void)kind, (void)data;
    return err_set(err, ERR_INVALID, "enough");
}

static void test_callbacks_that_fail(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t job = store_dir_add_job(s, JOB_RUNNING, 0);
    add_event(s, 1, 0);
    add_sample(s, job, 1, 1);
    begin_boot(s, 1);
    assert_ok(store_journal_add(s, "a", "b", &err), err);
    assert_error(store_event_list(s, 0, 0, 0, fail_event, NULL, &err), err, ERR_INVALID, "enough");
    assert_error(store_sample_list(s, job, fail_sample, NULL, &err), err, ERR_INVALID, "enough");
    assert_error(store_journal_list(s, 1, fail_entry, NULL, &err), err, ERR_INVALID, "enough");
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_events),
    STORE_TEST(test_sample_columns),
    STORE_TEST_IN_MEMORY(test_days_of_samples),
    TEST(test_year_of_samples),
    STORE_TEST(test_journal),
    STORE_TEST(test_callbacks_that_fail),
};

int main(void)
{
    return RUN(tests);
}
