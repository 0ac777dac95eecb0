/* A directory for a database, and rows to put into it, for tests of the store. */
#ifndef SUPPORT_STORE_DIR_H
#define SUPPORT_STORE_DIR_H

#include <sys/types.h>

#include "base/mem.h"
#include "store/attempts.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/samples.h"

struct store_dir {
    char dir[64];
    char path[96]; /* of the database in it */
};

/* cmocka's set-up and tear-down: *state becomes a struct store_dir. */
int store_dir_make(void **state);
int store_dir_remove(void **state);
#define STORE_TEST(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, store_dir_make, store_dir_remove)

/* The same for a test that writes much and has no use for a disk: the directory is
 * in memory where the system has such a place. */
int store_dir_make_in_memory(void **state);
#define STORE_TEST_IN_MEMORY(function)                                                             \
    cmocka_unit_test_setup_teardown(function, store_dir_make_in_memory, store_dir_remove)

/* Removes the directory and the files in it. */
void store_dir_clear(const char *dir);

/* The store in it; fails the test when it cannot be opened. */
struct store *store_dir_open(const struct store_dir *d);

/* The path of another file in it; it lives until the next call. */
const char *store_dir_file(const struct store_dir *d, const char *name);

/* A queued job with something in every column that a user fills; i tells jobs
 * apart. Its texts live until the next call. */
struct job_row store_dir_job(int64_t i);

/* Adds the job as a server does: its request first, unless the row names one. */
#define STORE_DIR_COMMAND "[\"python3\",\"train.py\"]"
int store_dir_submit(struct store *s, const struct job_row *row, int64_t *id, struct err *err);

/* A copy of the row with all that it points to; the texts are leaked into the
 * arena. A store_job_fn for a struct store_dir_rows. */
struct store_dir_rows {
    struct arena arena;
    VEC(struct job_row) rows;
};
int store_dir_keep(void *ctx, const struct job_row *row, struct err *err);
void store_dir_rows_done(struct store_dir_rows *r);

/* Fails the test unless all columns are equal; the command, which is the request's, is not
 * looked at. */
void store_dir_same_job(const struct job_row *a, const struct job_row *b);

/* Count rows into an unsigned: for the functions that list jobs, attempts, events,
 * samples and the journal. */
int store_dir_count(void *ctx, const struct job_row *row, struct err *err);
int store_dir_count_attempt(void *ctx, const struct attempt_row *row, struct err *err);
int store_dir_count_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                          const char *json, struct err *err);
int store_dir_count_sample(void *ctx, uint32_t attempt, const struct sample_row *row,
                           struct err *err);
int store_dir_count_entry(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                          struct err *err);
/* How many jobs the store has. */
unsigned store_dir_count_jobs(struct store *s);

/* Adds a job in this state, ended then or (0) not; its id. */
int64_t store_dir_add_job(struct store *s, enum job_state state, usec_t ended);
void store_dir_commit(struct store *s);
/* Adds n jobs in one turn. */
void store_dir_add_jobs(struct store *s, int n);

/* Another program that commits two jobs at a time until it is stopped, which fails
 * the test if it has failed before. */
pid_t store_dir_start_writer(const char *path);
void store_dir_stop_writer(pid_t pid);

/* Runs statements on the file behind the store's back. */
void store_dir_run_sql(const char *path, const char *sql);

/* Fails the test unless the statement yields just this: each value of each row and a blank
 * after it, "-" for NULL. */
struct sqlite3;
void store_dir_yields(struct sqlite3 *db, const char *sql, const char *want);
/* Makes the database that the SQL text in the file describes. */
void store_dir_load(const char *path, const char *sql_file);

/* The size of a file; -1 when there is none. */
off_t store_dir_size_of(const char *path);

/* Fails the test unless the check finds the database sound. */
void store_dir_check(const char *path);

#endif
