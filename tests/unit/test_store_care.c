/* Tests of check and backup, also while another program writes. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/attempts.h"
#include "store/care.h"
#include "store/check.h"
#include "store/schema.h"
#include "store/store.h"
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

/* ---- check --------------------------------------------------------------- */

static void test_check(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    AUTO_FREE char *report = NULL;
    struct store *s = store_dir_open(d);
    store_dir_add_jobs(s, 3);
    /* While a server has it open, with a turn under way. */
    assert_ok(store_meta_set(s, "a", "b", &err), err);
    assert_ok(store_check(d->path, &report, &err), err);
    char want[48];
    snprintf(want, sizeof want, "sound: schema %d, 3 jobs, ", schema_current.n);
    assert_non_null(strstr(report, want));
    assert_ok(store_commit(s, &err), err);
    store_close(s);
}

static void assert_finds(const struct store_dir *d, const char *damage, const char *words)
{
    struct err err;
    char *report = NULL;
    char *copy = xstrdup(store_dir_file(d, "copy.db"));
    unlink(copy);
    assert_ok(store_backup(d->path, copy, NULL, NULL, &err), err);
    store_dir_run_sql(copy, damage);
    assert_error(store_check(copy, &report, &err), err, ERR_IO, "damaged");
    if (!report || !strstr(report, words))
        fail_msg("%s: %s", damage, report);
    free(report);
    free(copy);
}

static void test_check_finds(void **state)
{
    struct store_dir *d = *state;
    struct store *s = store_dir_open(d);
    store_dir_add_jobs(s, 10);
    struct err err;
    struct attempt_row row = {.job = 3, .n = 1, .state = JOB_RUNNING};
    assert_ok(store_attempt_add(s, &row, &err), err);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    assert_finds(d, "UPDATE job SET state = 'odd' WHERE id = 7", "job 7: odd is not a state");
    assert_finds(d, "UPDATE job SET over = 1 WHERE id = 7", "job 7: queued");
    assert_finds(d, "UPDATE attempt SET state = 'odd'", "attempt 3.1: odd is not a state");
    assert_finds(d, "DELETE FROM request WHERE id = 5", "table job: a row without its request");
    assert_finds(d, "UPDATE job SET request = NULL WHERE id = 5", "job 5: no request");
    assert_finds(d, "INSERT INTO arrival VALUES (5, 5, 3, 9)", "array 5: has 0 jobs, not the 3");
    assert_finds(d, "INSERT INTO boot (at, first) VALUES (1, 9), (2, 9), (3, 8)",
                 "boot 3: begins before the one before it");
    assert_finds(d, "INSERT INTO sample (job, seq, attempt, at) VALUES (99, 1, 1, 1)",
                 "table sample: a row without its job");
    assert_finds(
        d,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT "
        "rootpage FROM sqlite_schema WHERE name = 'job_name') WHERE name = 'job_over_user'",
        "job_over_user");
    assert_finds(d, "DROP TABLE event", "event");
}

static void test_check_of_nothing(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    char *report = NULL;
    assert_error(store_check(d->path, &report, &err), err, ERR_NOT_FOUND, "no such file");
    assert_non_null(strstr(report, "no such file"));
    free(report);
    assert_int_equal(store_dir_size_of(d->path), -1);
    store_dir_run_sql(d->path, "CREATE TABLE t (a)");
    assert_error(store_check(d->path, &report, &err), err, ERR_INVALID, "another program");
    free(report);
}

/* ---- backup -------------------------------------------------------------- */

struct progress {
    unsigned calls;
    uint64_t done, total;
};

static void see_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct progress *p = ctx;
    assert_true(done >= p->done && done <= total);
    *p = (struct progress){p->calls + 1, done, total};
}

static void test_backup(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct progress p = {0};
    struct stat st;
    struct store *s = store_dir_open(d);
    store_dir_add_jobs(s, 20000);
    char *to = xstrdup(store_dir_file(d, "backup.db"));
    assert_ok(store_backup(d->path, to, see_progress, &p, &err), err);
    assert_true(p.calls > 1 && p.done == p.total && p.total > 1024);
    /* One file, private, sound by itself, and a database like any other. */
    assert_int_equal(stat(to, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(store_dir_size_of(store_dir_file(d, "backup.db-wal")), -1);
    assert_int_equal(store_dir_size_of(store_dir_file(d, "backup.db.part")), -1);
    store_dir_check(to);
    assert_int_equal(store_dir_size_of(store_dir_file(d, "backup.db-wal")), -1);
    assert_int_equal(count_jobs(to), 20000);
    store_dir_add_jobs(s, 1);
    assert_ok(store_backup(d->path, to, NULL, NULL, &err), err);
    assert_int_equal(count_jobs(to), 20001);
    store_close(s);
    free(to);
}

/* A backup that was damaged meanwhile is refused in the place of the database, and is the
 * same byte for byte afterwards. */
static void test_damaged_backup(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    store_dir_add_jobs(s, 300);
    char *to = xstrdup(store_dir_file(d, "backup.db"));
    assert_ok(store_backup(d->path, to, NULL, NULL, &err), err);
    store_close(s);
    enum { PAGE = 4096 };
    off_t size = store_dir_size_of(to);
    char *before = xmalloc((size_t)size), *after = xmalloc((size_t)size);
    AUTO_CLOSE int fd = open(to, O_RDWR);
    for (off_t at = 3 * PAGE; at < 6 * PAGE; at += 7)
        assert_int_equal(pwrite(fd, "!", 1, at), 1);
    assert_int_equal(pread(fd, before, (size_t)size, 0), size);
    assert_error(store_open(to, &s, &err), err, ERR_IO, "damaged");
    assert_int_equal(store_dir_size_of(to), size);
    assert_int_equal(pread(fd, after, (size_t)size, 0), size);
    assert_memory_equal(before, after, (size_t)size);
    free(before);
    free(after);
    free(to);
}

static void test_backup_refused(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    char *note = xstrdup(store_dir_file(d, "note.txt"));
    assert_error(store_backup(d->path, note, NULL, NULL, &err), err, ERR_NOT_FOUND, "no such");
    store_close(store_dir_open(d));
    AUTO_CLOSE int fd = open(note, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "precious", 8), 8);
    assert_error(store_backup(d->path, note, NULL, NULL, &err), err, ERR_CONFLICT, "not a backup");
    assert_int_equal(store_dir_size_of(note), 8);
    assert_error(store_backup(d->path, d->path, NULL, NULL, &err), err, ERR_INVALID, "itself");
    assert_error(store_backup(d->path, d->dir, NULL, NULL, &err), err, ERR_CONFLICT,
                 "not a backup");
    char *deep = xstrdup(store_dir_file(d, "no/such/backup.db"));
    assert_error(store_backup(d->path, deep, NULL, NULL, &err), err, ERR_NOT_FOUND, "no such");
    free(deep);
    free(note);
}

static void test_backup_while_another_writes(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    char *to = xstrdup(store_dir_file(d, "backup.db"));
    struct store *s = store_dir_open(d);
    store_dir_add_jobs(s, 5000);
    store_close(s);
    pid_t writer = store_dir_start_writer(d->path);
    unsigned before = 0;
    for (int i = 0; i < 10; i++) {
        assert_ok(store_backup(d->path, to, NULL, NULL, &err), err);
        store_dir_check(to);
        unsigned n = count_jobs(to);
        /* One instant: no pair is torn, and the next backup is later. */
        assert_true(n % 2 == 0 && n >= before);
        before = n;
    }
    assert_true(before > 5000);
    store_dir_check(d->path);
    store_dir_stop_writer(writer);
    free(to);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_check),
    STORE_TEST(test_check_finds),
    STORE_TEST(test_check_of_nothing),
    STORE_TEST(test_backup),
    STORE_TEST(test_damaged_backup),
    STORE_TEST(test_backup_refused),
    STORE_TEST(test_backup_while_another_writes),
};

int main(void)
{
    return RUN(tests);
}
