/* Tests of compaction, also while others use the database. */
#include <unistd.h>

#include "store/care.h"
#include "store/events.h"
#include "store/job_list.h"
#include "store/jobs.h"
#include "store/store.h"
#include "store/trim.h"
#include "support/store_dir.h"
#include "support/test.h"

/* How many jobs the database at the path has. */
static unsigned count_jobs(const char *path)
{
    struct err err;
    struct store *s = NULL;
    assert_ok(store_open(path, &s, &err), err);
    unsigned n = store_dir_count_jobs(s);
    store_close(s);
    return n;
}

static void add_events(struct store *s, int n)
{
    struct err err;
    int64_t seq;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < n; i++)
        assert_ok(store_event_add(s, i, 0, "note", text, &seq, &err), err);
    assert_ok(store_commit(s, &err), err);
}

static void trim_all(struct store *s)
{
    struct err err;
    uint64_t removed;
    do
        assert_ok(store_trim(s, INT64_MAX, &removed, &err), err);
    while (removed);
    assert_ok(store_commit(s, &err), err);
}

static void test_compact(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    assert_error(store_compact(d->path, &err), err, ERR_NOT_FOUND, "no such file");
    struct store *s = store_dir_open(d);
    store_dir_add_jobs(s, 100);
    add_events(s, 5000);
    trim_all(s);
    store_close(s);
    off_t before = store_dir_size_of(d->path);
    assert_ok(store_compact(d->path, &err), err);
    assert_true(store_dir_size_of(d->path) < before / 5);
    assert_int_equal(store_dir_size_of(store_dir_file(d, "trainyard.db-wal")), -1);
    store_dir_check(d->path);
    assert_int_equal(count_jobs(d->path), 100);
}

static int compact_within(void *ctx, const struct job_row *row, struct err *err)
{
    (void)row;
    const struct store_dir *d = ctx;
    return store_compact(d->path, err) < 0 ? -1 : 1;
}

static void test_compact_while_others_read(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    store_dir_add_jobs(s, 100);
    add_events(s, 3000);
    trim_all(s);
    /* In the middle of a list; then the store goes on with what it has prepared. */
    assert_ok(store_job_list(s, &(struct job_filter){0}, compact_within, d, &err), err);
    store_dir_add_jobs(s, 1);
    unsigned n = 0;
    assert_ok(store_job_list(s, &(struct job_filter){0}, store_dir_count, &n, &err), err);
    assert_int_equal(n, 101);
    store_close(s);
    assert_true(store_dir_size_of(d->path) < 500000);
    store_dir_check(d->path);
}

static void test_compact_while_another_writes(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    store_close(store_dir_open(d));
    pid_t writer = store_dir_start_writer(d->path);
    for (int i = 0; i < 5; i++)
        assert_ok(store_compact(d->path, &err), err);
    store_dir_stop_writer(writer);
    store_dir_check(d->path);
    assert_int_equal(count_jobs(d->path) % 2, 0);
}

static void test_compact_refused(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    /* A turn that does not end. */
    assert_ok(store_meta_set(s, "a", "b", &err), err);
    assert_error(store_compact(d->path, &err), err, ERR_IO, "another program uses it");
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    store_dir_run_sql(d->path, "PRAGMA user_version = 99");
    assert_error(store_compact(d->path, &err), err, ERR_CONFLICT, "newer");
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_compact),
    STORE_TEST(test_compact_while_others_read),
    STORE_TEST(test_compact_while_another_writes),
    STORE_TEST(test_compact_refused),
};

int main(void)
{
    return RUN(tests);
}
