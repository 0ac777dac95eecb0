/* A directory for a database, and rows to put into it, for tests of the store. */
#ifndef SUPPORT_STORE_DIR_H
#define SUPPORT_STORE_DIR_H

#include "base/mem.h"
#include "store/store.h"

struct store_dir {
    char dir[64];
    char path[96]; /* of the database in it */
};

/* cmocka's set-up and tear-down: *state becomes a struct store_dir. */
int store_dir_make(void **state);
int store_dir_remove(void **state);
#define STORE_TEST(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, store_dir_make, store_dir_remove)

/* Removes the directory and what is in it. */
void store_dir_clear(const char *dir);

/* The store in it; fails the test when it cannot be opened. */
struct store *store_dir_open(const struct store_dir *d);

/* The path of another file in it; it lives until the next call. */
const char *store_dir_file(const struct store_dir *d, const char *name);

/* A queued job with something in every column that a user fills; i tells jobs
 * apart. Its texts live until the next call. */
struct job_row store_dir_job(int64_t i);

/* A copy of the row with all that it points to; the texts are leaked into the
 * arena. A store_job_fn for a struct store_dir_rows. */
struct store_dir_rows {
    struct arena arena;
    VEC(struct job_row) rows;
};
int store_dir_keep(void *ctx, const struct job_row *row, struct err *err);
void store_dir_rows_done(struct store_dir_rows *r);

/* Counts jobs into an unsigned. A store_job_fn. */
int store_dir_count(void *ctx, const struct job_row *row, struct err *err);

/* Fails the test unless the check finds the database sound. */
void store_dir_check(const char *path);

#endif
