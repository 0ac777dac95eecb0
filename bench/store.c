/* What the store costs: durable commits a second against the disk's own rate and
 * plain SQLite's, in turns, so that a slow moment of the disk hits all of them, and the
 * pages that each writes, which do not depend on the machine; how long lists and single
 * jobs take with many jobs in the store.
 *
 *   store [JOBS [DIRECTORY]]        default: 100000 jobs, in a new directory below this one */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "store/attempts.h"
#include "store/events.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/query.h"
#include "store/store.h"

enum { ROUNDS = 7, ROUND_MS = 400, READS = 2000, PAGE = 100, LOG_BYTES = 4 << 20 };

static char directory[256];

static const char *file(const char *name)
{
    static char path[320];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void need(int truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "store: %s\n", what);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A job as `trainyard submit` has it written, with an environment of usual size in its
 * request; its id. */
static int64_t add_job(struct store *s, uint64_t i, enum job_state state)
{
    static const char command[] = "[\"python3\",\"train.py\"]";
    char name[32], user[32], text[1024];
    struct err err;
    struct job_row row = {.name = name, .user = user, .state = state, .code = -1};
    snprintf(name, sizeof name, "train-%llu", (unsigned long long)i);
    snprintf(user, sizeof user, "user%llu", (unsigned long long)(i % 20));
    snprintf(text, sizeof text, "{\"name\":\"%s\",\"command\":%s,%0*d}", name, command, 600, 0);
    row.submitted = 1700000000000000 + (usec_t)i;
    row.ended = job_state_over(state) ? row.submitted : 0;
    need(store_request_add(s, text, command, "", &row.request, &err) == 0, err.text);
    need(store_job_add(s, &row, &row.id, &err) == 0, err.text);
    return row.id;
}

/* ---- commits ------------------------------------------------------------- */

/* The rate of the disk for a file of constant size: SQLite's log is overwritten
 * from its start again and again as well. */
static void write_and_sync(void *ctx)
{
    static const char block[4096] = "x";
    static off_t at;
    int fd = *(int *)ctx;
    need(pwrite(fd, block, sizeof block, at) == sizeof block && fdatasync(fd) == 0, "fdatasync");
    at = (at + (off_t)sizeof block) % LOG_BYTES;
}

/* The same for a file that grows, which costs a file system more. */
static void append_and_sync(void *ctx)
{
    static const char block[4096] = "x";
    int fd = *(int *)ctx;
    need(write(fd, block, sizeof block) == sizeof block && fdatasync(fd) == 0, "fdatasync");
}

static int open_log(const char *name)
{
    static const char block[4096] = "x";
    int fd = open(file(name), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    need(fd >= 0, "no file for the disk's own rate");
    for (off_t at = 0; at < LOG_BYTES; at += (off_t)sizeof block)
        need(pwrite(fd, block, sizeof block, at) == sizeof block, "no space for the disk's rate");
    need(fsync(fd) == 0, "fsync");
    return fd;
}

static void commit_plain(void *ctx)
{
    sqlite3_stmt *stmt = ctx;
    int rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    need(rc == SQLITE_DONE, "plain SQLite");
}

struct batch {
    struct store *s;
    unsigned size;
};

static void commit_jobs(void *ctx)
{
    static uint64_t i;
    struct batch *b = ctx;
    struct err err;
    for (unsigned k = 0; k < b->size; k++)
        add_job(b->s, i++, JOB_QUEUED);
    need(store_commit(b->s, &err) == 0, err.text);
}

/* A job is submitted, starts and ends, each in a turn of its own, with the rows and events
 * that a server writes. */
static void commit_life(void *ctx)
{
    static uint64_t i = 1U << 30;
    static const enum job_state states[] = {JOB_QUEUED, JOB_RUNNING, JOB_DONE};
    struct batch *b = ctx;
    struct err err;
    int64_t seq;
    struct job_row row = {.id = add_job(b->s, i++, JOB_QUEUED), .code = -1, .reason = ""};
    struct attempt_row attempt = {.job = row.id,
                                  .n = 1,
                                  .node = "n1",
                                  .token = "0123456789abcdef0123456789abcdef",
                                  .boot = "83ecfc86-8038-4172-80a1-5ee74c6acf84"};
    for (size_t k = 0; k < COUNT_OF(states); k++) {
        row.state = attempt.state = states[k];
        row.ended = attempt.ended = job_state_over(states[k]) ? (usec_t)i : 0;
        if (k == 1)
            need(store_attempt_add(b->s, &attempt, &err) == 0, err.text);
        if (k == 2)
            need(store_attempt_save(b->s, &attempt, &err) == 0, err.text);
        need(k == 0 || store_job_save(b->s, &row, &err) == 0, err.text);
        need(store_event_add(b->s, 1, row.id, "job.changed", "{}", &seq, &err) == 0, err.text);
        need(store_commit(b->s, &err) == 0, err.text);
    }
}

struct outcome {
    uint64_t runs, pages; /* in all, and the pages that they wrote */
    double rate[ROUNDS];  /* runs a second */
};

struct contender {
    const char *name;
    void (*run)(void *ctx);
    void *ctx;
    sqlite3 *db;   /* that it writes to; NULL = a plain file */
    unsigned rows; /* of a run */
    struct outcome out;
};

/* Pages of a database that were written to its log so far. */
static uint64_t pages_written(sqlite3 *db)
{
    int pages = 0, highest;
    if (db)
        sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0);
    return (uint64_t)pages;
}

static void race_round(struct contender *c, int round)
{
    unsigned runs = 0;
    uint64_t pages = pages_written(c->db);
    double start = now_ms(), end;
    do {
        c->run(c->ctx);
        runs++;
        end = now_ms();
    } while (end - start < ROUND_MS);
    c->out.rate[round] = runs / (end - start) * 1e3;
    c->out.runs += runs;
    c->out.pages += pages_written(c->db) - pages;
}

static void race(struct contender *c, size_t n)
{
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++)
            race_round(&c[i], round);
    for (size_t i = 0; i < n; i++)
        qsort(c[i].out.rate, ROUNDS, sizeof(double), compare);
}

static void bench_commits(void)
{
    struct err err;
    sqlite3 *db;
    sqlite3_stmt *stmt = NULL;
    struct store *s;
    AUTO_CLOSE int log = open_log("log"), grows = open_log("grows");
    need(lseek(grows, 0, SEEK_END) == LOG_BYTES, "lseek");
    need(sqlite3_open(file("plain.db"), &db) == SQLITE_OK &&
             sqlite3_exec(db,
                          "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                          "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)",
                          NULL, NULL, NULL) == SQLITE_OK &&
             sqlite3_prepare_v2(db, "INSERT INTO t (text) VALUES (printf('%0700d', 1))", -1, &stmt,
                                NULL) == SQLITE_OK,
         "plain SQLite");
    need(store_open(file("commits.db"), &s, &err) == 0, err.text);
    struct batch batches[] = {{s, 1}, {s, 10}, {s, 100}, {s, 1000}};
    struct contender c[] = {
        {"write 4 KiB, fdatasync", write_and_sync, &log, NULL, 1, {0}},
        {"append 4 KiB, fdatasync", append_and_sync, &grows, NULL, 1, {0}},
        {"plain SQLite, 1 row", commit_plain, stmt, db, 1, {0}},
        {"store, 1 job", commit_jobs, &batches[0], s->db, 1, {0}},
        {"store, 10 jobs", commit_jobs, &batches[1], s->db, 10, {0}},
        {"store, 100 jobs", commit_jobs, &batches[2], s->db, 100, {0}},
        {"store, 1000 jobs", commit_jobs, &batches[3], s->db, 1000, {0}},
        {"store, life in 3 commits", commit_life, &batches[0], s->db, 1, {0}},
    };
    race(c, COUNT_OF(c));
    printf("durable commits in %s, medians of %d rounds in turns\n", directory, ROUNDS);
    printf("%-26s %10s %10s %12s %12s %8s\n", "", "runs/s", "rows/s", "of fdatasync", "of SQLite",
           "pages");
    double disk = c[0].out.rate[ROUNDS / 2], plain = c[2].out.rate[ROUNDS / 2];
    for (size_t i = 0; i < COUNT_OF(c); i++) {
        double rate = c[i].out.rate[ROUNDS / 2];
        printf("%-26s %10.0f %10.0f %11.2fx %11.2fx %8.1f\n", c[i].name, rate, rate * c[i].rows,
               rate * c[i].rows / disk, rate * c[i].rows / plain,
               (double)c[i].out.pages / (double)c[i].out.runs);
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    store_close(s);
}

/* ---- reads --------------------------------------------------------------- */

/* 50 jobs of 100,000 are queued or running, spread over all of them. */
static void fill(struct store *s, uint64_t jobs)
{
    struct err err;
    for (uint64_t i = 0; i < jobs; i++) {
        enum job_state state = i % 2000 == 0 ? (i % 4000 ? JOB_QUEUED : JOB_RUNNING)
                               : i % 17 == 0 ? JOB_FAILED
                                             : JOB_DONE;
        int64_t id = add_job(s, i, state);
        struct attempt_row attempt = {.job = id, .n = 1, .state = state, .node = "n1"};
        need(store_attempt_add(s, &attempt, &err) == 0, err.text);
        if (i % 10000 == 9999)
            need(store_commit(s, &err) == 0, err.text);
    }
    need(store_commit(s, &err) == 0, err.text);
}

static int see_job(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += strlen(row->command) + strlen(row->name);
    return 0;
}

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += row->n;
    return 0;
}

enum read_kind { READ_LIST, READ_SHOW };

struct reading {
    const char *name;
    enum read_kind kind;
    bool anywhere; /* the cursor is at a random job, not at the newest */
    struct job_filter f;
};

static void read_once(struct store *s, const struct reading *r, int64_t id)
{
    struct err err;
    size_t seen = 0;
    char *text = NULL;
    struct job_filter f = r->f;
    f.limit = PAGE;
    f.after = r->anywhere ? id : 0;
    int rc = r->kind == READ_LIST ? store_job_list(s, &f, see_job, &seen, &err)
                                  : store_job_get(s, id, see_job, &seen, &err);
    if (rc == 0 && r->kind == READ_SHOW)
        rc = store_attempt_list(s, id, see_attempt, &seen, &err);
    if (rc == 0 && r->kind == READ_SHOW)
        rc = store_request_get(s, id, &text, &err);
    need(rc == 0, err.text);
    free(text);
}

static void bench_reads(uint64_t jobs)
{
#define BIT(state) (1U << JOB_##state)
    static const struct reading readings[] = {
        {"newest", READ_LIST, false, {0}},
        {"from anywhere", READ_LIST, true, {0}},
        {"queued or running", READ_LIST, false, {.states = BIT(QUEUED) | BIT(RUNNING)}},
        {"done or failed, anywhere", READ_LIST, true, {.states = BIT(DONE) | BIT(FAILED)}},
        {"failed, anywhere", READ_LIST, true, {.states = BIT(FAILED)}},
        {"of a user, anywhere", READ_LIST, true, {.user = "user7"}},
        {"of a user, queued", READ_LIST, false, {.user = "user0", .states = BIT(QUEUED)}},
        {"name train-123*", READ_LIST, false, {.name = "train-123*"}},
        {"name train-* anywhere", READ_LIST, true, {.name = "train-*"}},
        {"one job with all of it", READ_SHOW, true, {0}},
    };
    struct err err;
    struct store *s;
    struct rng r;
    struct stat st;
    need(store_open(file("reads.db"), &s, &err) == 0, err.text);
    double start = now_ms();
    fill(s, jobs);
    printf("\n%llu jobs, added in %.1f s; ", (unsigned long long)jobs, (now_ms() - start) / 1e3);
    store_close(s);
    start = now_ms();
    need(store_open(file("reads.db"), &s, &err) == 0, err.text);
    need(stat(file("reads.db"), &st) == 0, "no file");
    printf("opened in %.2f ms; %.0f bytes per job\n", now_ms() - start, (double)st.st_size / jobs);
    printf("%-26s %10s %10s %10s   microseconds, page of %d\n", "", "p50", "p99", "max", PAGE);
    rng_init(&r, 1);
    for (size_t i = 0; i < COUNT_OF(readings); i++) {
        double ms[READS];
        for (int k = 0; k < READS; k++) {
            int64_t id = 1 + (int64_t)rng_below(&r, jobs);
            start = now_ms();
            read_once(s, &readings[i], id);
            ms[k] = now_ms() - start;
        }
        qsort(ms, READS, sizeof *ms, compare);
        printf("%-26s %10.0f %10.0f %10.0f\n", readings[i].name, ms[READS / 2] * 1e3,
               ms[READS * 99 / 100] * 1e3, ms[READS - 1] * 1e3);
    }
    store_close(s);
}

int main(int argc, char **argv)
{
    static const char *const files[] = {"log", "grows", "plain.db", "commits.db", "reads.db"};
    uint64_t jobs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    snprintf(directory, sizeof directory, "%s/store-bench-XXXXXX", argc > 2 ? argv[2] : ".");
    need(jobs > 0, "usage: store [JOBS [DIRECTORY]]");
    need(mkdtemp(directory) != NULL, "no directory to write to");
    bench_commits();
    bench_reads(jobs);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        unlink(file(files[i]));
    rmdir(directory);
    return 0;
}
