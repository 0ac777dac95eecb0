/* Tests of the store: opening, what is refused, the turn's transaction, settings. */
#include "store/schema.h"
#include "store/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/care.h"
#include "store/deps.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "support/store_dir.h"
#include "support/test.h"

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    AUTO_CLOSE int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
}

static int64_t add_job(struct store *s, int64_t i)
{
    struct err err;
    int64_t id = 0;
    struct job_row row = store_dir_job(i);
    assert_ok(store_dir_submit(s, &row, &id, &err), err);
    return id;
}

static void test_create(void **state)
{
    struct store_dir *d = *state;
    struct stat st;
    mode_t mask = umask(0);
    struct store *s = store_dir_open(d);
    umask(mask);
    assert_int_equal(store_dir_count_jobs(s), 0);
    assert_false(store_dirty(s));
    add_job(s, 1);
    struct err err;
    assert_ok(store_commit(s, &err), err);
    /* It holds tokens and environments. */
    assert_int_equal(stat(d->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(store_dir_file(d, "trainyard.db-wal"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    store_close(s);
    /* A clean end leaves one file. */
    assert_int_equal(stat(store_dir_file(d, "trainyard.db-wal"), &st), -1);
    assert_int_equal(stat(store_dir_file(d, "trainyard.db.new"), &st), -1);
    s = store_dir_open(d);
    assert_int_equal(store_dir_count_jobs(s), 1);
    store_close(s);
    store_close(NULL);
    store_dir_check(d->path);
}

static int first_column(void *ctx, int n, char **values, char **names)
{
    (void)n, (void)names;
    snprintf(ctx, 32, "%s", values[0]);
    return 0;
}

static void test_header(void **state)
{
    struct store_dir *d = *state;
    char version[16];
    const char *const want[][2] = {
        {"PRAGMA application_id", "1415148132"}, /* 0x54597264 */
        {"PRAGMA user_version", version},
        {"PRAGMA journal_mode", "wal"},
    };
    char text[32];
    sqlite3 *db;
    snprintf(version, sizeof version, "%d", schema_current.n);
    store_close(store_dir_open(d));
    assert_int_equal(sqlite3_open(d->path, &db), SQLITE_OK);
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_int_equal(sqlite3_exec(db, want[i][0], first_column, text, NULL), SQLITE_OK);
        assert_string_equal(text, want[i][1]);
    }
    sqlite3_close(db);
}

static void test_relative_paths(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = NULL;
    char here[256];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(d->dir), 0);
    /* Not a URI, although SQLite would take it for one. */
    assert_ok(store_open("file:x.db", &s, &err), err);
    add_job(s, 1);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    assert_int_equal(access("file:x.db", F_OK), 0);
    assert_ok(store_backup("file:x.db", "file:y.db", NULL, NULL, &err), err);
    assert_int_equal(access("file:y.db", F_OK), 0);
    assert_int_equal(chdir(here), 0);
}

static void test_paths_that_cannot_be(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = NULL;
    assert_error(store_open(store_dir_file(d, "no/such.db"), &s, &err), err, ERR_NOT_FOUND,
                 "no such file or directory");
    assert_error(store_open(d->dir, &s, &err), err, ERR_INVALID, "not a file");
    assert_null(s);
    store_close(store_dir_open(d));
    char below[128];
    snprintf(below, sizeof below, "%s/x.db", d->path);
    assert_error(store_open(below, &s, &err), err, ERR_NOT_FOUND, "no such file");
    assert_null(s);
}

static void test_not_a_database(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = NULL;
    char junk[8192];
    memset(junk, 'x', sizeof junk);
    write_bytes(d->path, junk, sizeof junk);
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "damaged");
    assert_non_null(strstr(err.text, "backup"));
    assert_non_null(strstr(err.text, "trainyard db check"));
    write_bytes(d->path, "short", 5);
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "damaged");
    /* A file that is there was whole once: it does not become a new database. */
    write_bytes(d->path, "", 0);
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "damaged");
    assert_null(s);
}

static void test_cut_off(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    for (int i = 0; i < 500; i++)
        add_job(s, i);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    struct stat st;
    assert_int_equal(stat(d->path, &st), 0);
    assert_int_equal(truncate(d->path, st.st_size / 2), 0);
    s = NULL;
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "damaged");
    assert_null(s);
}

static void test_of_another_program(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = NULL;
    store_dir_run_sql(d->path, "CREATE TABLE t (a)");
    assert_error(store_open(d->path, &s, &err), err, ERR_INVALID, "another program");
    assert_non_null(strstr(err.text, "--state"));
    store_dir_run_sql(d->path, "PRAGMA application_id = 7; DROP TABLE t");
    assert_error(store_open(d->path, &s, &err), err, ERR_INVALID, "application id 7");
    assert_null(s);
    store_dir_run_sql(d->path,
                      "SELECT 1 / (SELECT journal_mode = 'delete' FROM pragma_journal_mode)");
}

static void test_newer_schema(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    assert_ok(store_meta_set(s, STORE_META_PROGRAM, "9.8.7", &err), err);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    s = NULL;
    store_dir_run_sql(d->path, "PRAGMA user_version = 99");
    assert_error(store_open(d->path, &s, &err), err, ERR_CONFLICT, "trainyard 9.8.7");
    assert_non_null(strstr(err.text, "schema 99"));
    assert_non_null(strstr(err.text, "install that version"));
    store_dir_run_sql(d->path, "DROP TABLE meta");
    assert_error(store_open(d->path, &s, &err), err, ERR_CONFLICT, "a newer trainyard");
    store_dir_run_sql(d->path, "PRAGMA user_version = -1");
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "damaged");
    assert_null(s);
}

static void test_turns(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d), *other = store_dir_open(d);
    assert_ok(store_commit(s, &err), err);
    store_rollback(s);
    int64_t id = add_job(s, 1);
    assert_true(store_dirty(s));
    /* The turn itself sees it, nobody else does. */
    assert_int_equal(store_dir_count_jobs(s), 1);
    assert_int_equal(store_dir_count_jobs(other), 0);
    assert_ok(store_commit(s, &err), err);
    assert_false(store_dirty(s));
    assert_int_equal(store_dir_count_jobs(other), 1);
    add_job(s, 2);
    store_rollback(s);
    assert_false(store_dirty(s));
    assert_int_equal(store_dir_count_jobs(s), 1);
    /* An id that nobody was told of is free again. */
    assert_int_equal(add_job(s, 3), id + 1);
    store_close(s);
    assert_int_equal(store_dir_count_jobs(other), 1);
    store_close(other);
}

static void test_bad_input_fails_alone(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    int64_t id = add_job(s, 1), other = 77;
    struct job_row again = store_dir_job(2);
    again.id = id;
    assert_error(store_dir_submit(s, &again, &other, &err), err, ERR_CONFLICT,
                 "job 1 already exists");
    assert_int_equal(other, 77);
    assert_error(store_dep_add(s, 99, 0, id, &err), err, ERR_NOT_FOUND, "no job 99");
    add_job(s, 3);
    assert_ok(store_commit(s, &err), err);
    assert_int_equal(store_dir_count_jobs(s), 2);
    store_close(s);
    store_dir_check(d->path);
}

static void test_open_to_read(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *reader = NULL;
    assert_error(store_open_to_read(d->path, &reader, &err), err, ERR_NOT_FOUND, "no such file");
    assert_int_equal(store_dir_size_of(d->path), -1);
    struct store *s = store_dir_open(d);
    add_job(s, 1);
    assert_ok(store_commit(s, &err), err);
    add_job(s, 2);
    assert_ok(store_open_to_read(d->path, &reader, &err), err);
    assert_int_equal(store_dir_count_jobs(reader), 1);
    assert_ok(store_commit(s, &err), err);
    assert_int_equal(store_dir_count_jobs(reader), 2);
    int64_t id;
    struct job_row row = store_dir_job(3);
    assert_error(store_dir_submit(reader, &row, &id, &err), err, ERR_IO, "cannot write");
    store_rollback(reader);
    assert_int_equal(store_dir_count_jobs(reader), 2);
    store_close(reader);
    store_close(s);
    reader = NULL;
    store_dir_run_sql(d->path, "PRAGMA user_version = 99");
    assert_error(store_open_to_read(d->path, &reader, &err), err, ERR_CONFLICT, "newer");
    store_dir_run_sql(d->path, "PRAGMA user_version = 0");
    assert_error(store_open_to_read(d->path, &reader, &err), err, ERR_CONFLICT, "older version");
    assert_null(reader);
}

/* Another program writes for longer than the store waits. */
static void test_locked_out(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    struct job_row row = store_dir_job(1);
    int64_t id = 0;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(d->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_error(store_dir_submit(s, &row, &id, &err), err, ERR_IO, "another program uses it");
    assert_true(store_dirty(s));
    /* The rest of the turn does not try again: half of it must not be written. */
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_error(store_dir_submit(s, &row, &id, &err), err, ERR_IO, "another program uses it");
    assert_error(store_commit(s, &err), err, ERR_IO, "another program uses it");
    sqlite3_close(db);
    assert_false(store_dirty(s));
    add_job(s, 1);
    assert_ok(store_commit(s, &err), err);
    assert_int_equal(store_dir_count_jobs(s), 1);
    store_close(s);
}

static void test_meta(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = store_dir_open(d);
    assert_null(store_meta_get(s, "policy"));
    assert_ok(store_meta_set(s, "policy", "fifo", &err), err);
    assert_ok(store_meta_set(s, "policy", "afs-l:window=\xc3\xa9'; DROP TABLE job; --", &err), err);
    assert_ok(store_meta_set(s, "empty", "", &err), err);
    assert_ok(store_meta_set(s, "removed", "x", &err), err);
    assert_ok(store_meta_set(s, "removed", NULL, &err), err);
    assert_ok(store_meta_set(s, "never there", NULL, &err), err);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    s = store_dir_open(d);
    char *value = store_meta_get(s, "policy");
    assert_string_equal(value, "afs-l:window=\xc3\xa9'; DROP TABLE job; --");
    free(value);
    value = store_meta_get(s, "empty");
    assert_string_equal(value, "");
    free(value);
    assert_null(store_meta_get(s, "removed"));
    assert_null(store_meta_get(s, "Policy"));
    store_close(s);
}

static void test_states(void **state)
{
    (void)state;
    for (enum job_state i = 0; i < JOB_STATE_COUNT; i++)
        assert_int_equal(job_state_parse(job_state_name(i)), i);
    assert_int_equal(job_state_parse("asleep"), -1);
    assert_int_equal(job_state_parse(""), -1);
    assert_false(job_state_over(JOB_HELD) || job_state_over(JOB_STOPPING));
    assert_true(job_state_over(JOB_DONE) && job_state_over(JOB_LOST));
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_create),
    STORE_TEST(test_header),
    STORE_TEST(test_relative_paths),
    STORE_TEST(test_paths_that_cannot_be),
    STORE_TEST(test_not_a_database),
    STORE_TEST(test_cut_off),
    STORE_TEST(test_of_another_program),
    STORE_TEST(test_newer_schema),
    STORE_TEST(test_turns),
    STORE_TEST(test_bad_input_fails_alone),
    STORE_TEST(test_open_to_read),
    STORE_TEST(test_locked_out),
    STORE_TEST(test_meta),
    TEST(test_states),
};

int main(void)
{
    return RUN(tests);
}
