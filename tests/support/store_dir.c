/* Owns the directories and rows that tests of the store use. */
#include "support/store_dir.h"

#include <ftw.h>
#include <unistd.h>

#include "support/test.h"

int store_dir_make(void **state)
{
    struct store_dir *d = xcalloc(1, sizeof *d);
    snprintf(d->dir, sizeof d->dir, "/tmp/trainyard-store-XXXXXX");
    *state = d;
    if (!mkdtemp(d->dir))
        return -1;
    snprintf(d->path, sizeof d->path, "%s/trainyard.db", d->dir);
    return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

void store_dir_clear(const char *dir)
{
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int store_dir_remove(void **state)
{
    struct store_dir *d = *state;
    store_dir_clear(d->dir);
    free(d);
    return 0;
}

struct store *store_dir_open(const struct store_dir *d)
{
    struct err err;
    struct store *s = NULL;
    assert_ok(store_open(d->path, &s, &err), err);
    return s;
}

const char *store_dir_file(const struct store_dir *d, const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", d->dir, name);
    return path;
}

struct job_row store_dir_job(int64_t i)
{
    static char name[32], user[32], spec[256];
    snprintf(name, sizeof name, "train-%05lld", (long long)i);
    snprintf(user, sizeof user, "user%lld", (long long)(i % 10));
    snprintf(spec, sizeof spec,
             "{\"name\":\"%s\",\"command\":[\"python3\",\"train.py\",\"--seed\",\"%lld\"],"
             "\"cpus\":\"1-4\",\"workdir\":\"/home/user/run\",\"env\":{\"OMP_NUM_THREADS\":\"4\"}}",
             name, (long long)i);
    return (struct job_row){.name = name,
                            .user = user,
                            .spec = spec,
                            .state = JOB_QUEUED,
                            .priority = (int32_t)(i % 3),
                            .submitted = 1700000000000000 + i,
                            .code = -1,
                            .reason = "",
                            .step = NAN,
                            .total = 100,
                            .metric = NAN};
}

int store_dir_keep(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    struct store_dir_rows *r = ctx;
    struct job_row copy = *row;
    copy.name = arena_strdup(&r->arena, row->name);
    copy.user = arena_strdup(&r->arena, row->user);
    copy.spec = arena_strdup(&r->arena, row->spec);
    copy.reason = arena_strdup(&r->arena, row->reason);
    VEC_PUSH(&r->rows, copy);
    return 0;
}

void store_dir_rows_done(struct store_dir_rows *r)
{
    VEC_DONE(&r->rows);
    arena_done(&r->arena);
}

int store_dir_count(void *ctx, const struct job_row *row, struct err *err)
{
    (void)row, (void)err;
    ++*(unsigned *)ctx;
    return 0;
}

void store_dir_check(const char *path)
{
    struct err err;
    AUTO_FREE char *report = NULL;
    if (store_check(path, &report, &err) < 0)
        fail_msg("%s", report);
    assert_non_null(strstr(report, "sound"));
}
