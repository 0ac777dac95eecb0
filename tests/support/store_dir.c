/* Owns the directories and rows that tests of the store use. */
#include "support/store_dir.h"

#include <dirent.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/attempts.h"
#include "store/check.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/samples.h"
#include "store/store.h"
#include "support/test.h"

static int make_below(const char *parent, void **state)
{
    struct store_dir *d = xcalloc(1, sizeof *d);
    snprintf(d->dir, sizeof d->dir, "%s/trainyard-store-XXXXXX", parent);
    *state = d;
    if (!mkdtemp(d->dir))
        return -1;
    snprintf(d->path, sizeof d->path, "%s/trainyard.db", d->dir);
    return 0;
}

int store_dir_make(void **state)
{
    return make_below("/tmp", state);
}

int store_dir_make_in_memory(void **state)
{
    return make_below(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", state);
}

void store_dir_clear(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(dir);
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
    copy.said = arena_strdup(&r->arena, row->said);
    VEC_PUSH(&r->rows, copy);
    return 0;
}

void store_dir_rows_done(struct store_dir_rows *r)
{
    VEC_DONE(&r->rows);
    arena_done(&r->arena);
}

/* ---- counting ------------------------------------------------------------ */

static int count(void *ctx)
{
    ++*(unsigned *)ctx;
    return 0;
}

int store_dir_count(void *ctx, const struct job_row *row, struct err *err)
{
    (void)row, (void)err;
    return count(ctx);
}

int store_dir_count_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)row, (void)err;
    return count(ctx);
}

int store_dir_count_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                          const char *json, struct err *err)
{
    (void)seq, (void)at, (void)job, (void)kind, (void)json, (void)err;
    return count(ctx);
}

int store_dir_count_sample(void *ctx, uint32_t attempt, const struct sample_row *row,
                           struct err *err)
{
    (void)attempt, (void)row, (void)err;
    return count(ctx);
}

int store_dir_count_entry(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                          struct err *err)
{
    (void)seq, (void)boot, (void)kind, (void)data, (void)err;
    return count(ctx);
}

unsigned store_dir_count_jobs(struct store *s)
{
    struct err err;
    unsigned n = 0;
    struct job_filter all = {.brief = true};
    assert_ok(store_job_list(s, &all, store_dir_count, &n, &err), err);
    return n;
}

/* ---- writing ------------------------------------------------------------- */

int64_t store_dir_add_job(struct store *s, enum job_state state, usec_t ended)
{
    struct err err;
    int64_t id = 0;
    struct job_row row = store_dir_job(1);
    row.state = state;
    row.ended = ended;
    assert_ok(store_job_add(s, &row, &id, &err), err);
    return id;
}

void store_dir_commit(struct store *s)
{
    struct err err;
    assert_ok(store_commit(s, &err), err);
}

void store_dir_add_jobs(struct store *s, int n)
{
    struct err err;
    int64_t id;
    for (int i = 0; i < n; i++) {
        struct job_row row = store_dir_job(i);
        assert_ok(store_job_add(s, &row, &id, &err), err);
    }
    assert_ok(store_commit(s, &err), err);
}

/* Never returns; says when it has committed for the first time. Pauses between its
 * turns, as a server does: one that never let go of the database could keep others
 * out for ever. */
static void write_pairs(const char *path, int ready)
{
    struct err err;
    struct store *s = NULL;
    int64_t id;
    if (store_open(path, &s, &err) < 0)
        _exit(1);
    for (int64_t i = 0;; i++) {
        struct job_row row = store_dir_job(i);
        if (store_job_add(s, &row, &id, &err) < 0 || store_job_add(s, &row, &id, &err) < 0 ||
            store_commit(s, &err) < 0 || (i == 0 && write(ready, "x", 1) != 1))
            _exit(2);
        usleep(2000);
    }
}

pid_t store_dir_start_writer(const char *path)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* Also when the test fails before it stops this one. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        write_pairs(path, ready[1]);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

void store_dir_stop_writer(pid_t pid)
{
    int status;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void store_dir_run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    char *text = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s", sql, text);
    sqlite3_close(db);
}

/* ---- looking ------------------------------------------------------------- */

off_t store_dir_size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : -1;
}

void store_dir_check(const char *path)
{
    struct err err;
    AUTO_FREE char *report = NULL;
    if (store_check(path, &report, &err) < 0)
        fail_msg("%s", report);
    assert_non_null(strstr(report, "sound"));
}
