/* Owns the database of the program before schema 3. */
#include "support/old_store.h"

#include "store/job_list.h"
#include "support/test.h"

struct store *old_store_open(const struct store_dir *d, const char *changes)
{
    store_dir_load(d->path, "tests/server/old/schema-2.sql");
    store_dir_run_sql(d->path, changes);
    return store_dir_open(d);
}

struct store_dir_rows old_store_jobs(struct store *s)
{
    struct err err;
    struct store_dir_rows all = {0};
    struct job_filter f = {.oldest_first = true};
    assert_ok(store_job_list(s, &f, store_dir_keep, &all, &err), err);
    assert_int_equal(all.rows.n, 10);
    return all;
}
