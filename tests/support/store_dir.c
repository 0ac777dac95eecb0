/* Owns the directories and rows that tests of the store use. */
#include "support/store_dir.h"

#include <dirent.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
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
    static char name[32], user[32];
    snprintf(name, sizeof name, "train-%05lld", (long long)i);
    snprintf(user, sizeof user, "user%lld", (long long)(i % 10));
    return (struct job_row){.name = name,
                            .user = user,
                            .state = JOB_QUEUED,
                            .priority = (int32_t)(i % 3),
                            .submitted = 1700000000000000 + i,
                            .code = -1,
                            .reason = "",
                            .error = "",
                            .cpus_min = 1000,
                            .cpus_max = 4000,
                            .memory_mb = 512,
                            .time_limit = USEC_PER_SEC,
                            .step = NAN,
                            .total = 100,
                            .epoch = NAN,
                            .epochs = NAN,
                            .loss = NAN,
                            .metric = NAN,
                            .rate = NAN};
}

int store_dir_submit(struct store *s, const struct job_row *row, int64_t *id, struct err *err)
{
    struct job_row job = *row;
    char text[512];
    snprintf(text, sizeof text,
             "{\"name\":\"%.100s\",\"command\":" STORE_DIR_COMMAND ",\"cpus\":\"1-4\","
             "\"workdir\":\"/home/user/run\",\"env\":{\"OMP_NUM_THREADS\":\"4\"}}",
             row->name ? row->name : "");
    if (!job.request && store_request_add(s, text, STORE_DIR_COMMAND, "", &job.request, err) < 0)
        return -1;
    return store_job_add(s, &job, id, err);
}

int store_dir_keep(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    struct store_dir_rows *r = ctx;
    struct job_row copy = *row;
    copy.name = arena_strdup(&r->arena, row->name);
    copy.user = arena_strdup(&r->arena, row->user);
    copy.reason = arena_strdup(&r->arena, row->reason);
    copy.error = arena_strdup(&r->arena, row->error);
    copy.command = arena_strdup(&r->arena, row->command);
    VEC_PUSH(&r->rows, copy);
    return 0;
}

void store_dir_rows_done(struct store_dir_rows *r)
{
    VEC_DONE(&r->rows);
    arena_done(&r->arena);
}

/* NAN is equal to NAN here. */
static void assert_real(double a, double b)
{
    if (a != b && !(isnan(a) && isnan(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

void store_dir_same_job(const struct job_row *a, const struct job_row *b)
{
    assert_true(a->id == b->id && a->request == b->request);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->user, b->user);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->held, b->held);
    assert_int_equal(a->priority, b->priority);
    assert_true(a->array == b->array);
    assert_true(a->array_index == b->array_index);
    assert_true(a->submitted == b->submitted && a->started == b->started && a->ended == b->ended);
    assert_true(a->deadline == b->deadline && a->eligible == b->eligible);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->failures, b->failures);
    assert_int_equal(a->code, b->code);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->error, b->error);
    assert_string_equal(a->total_from, b->total_from);
    assert_string_equal(a->diverged, b->diverged);
    assert_real(a->work, b->work);
    assert_real(a->done, b->done);
    assert_real(a->attained, b->attained);
    assert_true(a->run_time == b->run_time && a->wait_time == b->wait_time);
    assert_true(a->cpus_min == b->cpus_min && a->cpus_max == b->cpus_max);
    assert_true(a->gpus_min == b->gpus_min && a->gpus_max == b->gpus_max);
    assert_true(a->memory_mb == b->memory_mb && a->time_limit == b->time_limit);
    assert_true(a->resize_cost == b->resize_cost && a->progress_at == b->progress_at);
    assert_real(a->step, b->step);
    assert_real(a->total, b->total);
    assert_real(a->epoch, b->epoch);
    assert_real(a->epochs, b->epochs);
    assert_real(a->loss, b->loss);
    assert_real(a->metric, b->metric);
    assert_real(a->rate, b->rate);
    assert_string_equal(a->metric_name, b->metric_name);
    assert_string_equal(a->progress_source, b->progress_source);
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
    assert_ok(store_job_list(s, &(struct job_filter){0}, store_dir_count, &n, &err), err);
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
    assert_ok(store_dir_submit(s, &row, &id, &err), err);
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
        assert_ok(store_dir_submit(s, &row, &id, &err), err);
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
        if (store_dir_submit(s, &row, &id, &err) < 0 || store_dir_submit(s, &row, &id, &err) < 0 ||
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

static int keep_text(void *ctx, int n, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < n; i++)
        str_addf(ctx, "%s ", values[i] ? values[i] : "-");
    return 0;
}

void store_dir_yields(sqlite3 *db, const char *sql, const char *want)
{
    struct str text = {0};
    char *why = NULL;
    str_add(&text, "");
    if (sqlite3_exec(db, sql, keep_text, &text, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    assert_string_equal(text.at, want);
    str_done(&text);
}

void store_dir_load(const char *path, const char *sql_file)
{
    struct str sql = {0};
    char buf[4096];
    FILE *f = fopen(sql_file, "r");
    if (!f)
        fail_msg("%s: no such file", sql_file);
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
        str_add_n(&sql, buf, n);
    fclose(f);
    store_dir_run_sql(path, sql.at);
    str_done(&sql);
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
