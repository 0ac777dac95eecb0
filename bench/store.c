/* The cost of the store: durable commits per second compared with the disk and with
 * plain SQLite, in turns, so that a slow moment of the disk affects all of them; and the
 * time for lists and single jobs with many jobs in the store.
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
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
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

/* A row like that of `trainyard submit`, with an environment of typical size. */
static struct job_row make_job(uint64_t i)
{
    static char name[32], user[32], spec[1024];
    snprintf(name, sizeof name, "train-%llu", (unsigned long long)i);
    snprintf(user, sizeof user, "user%llu", (unsigned long long)(i % 20));
    snprintf(spec, sizeof spec, "{\"name\":\"%s\",\"command\":[\"python3\",\"train.py\"],%0*d}",
             name, 600, 0);
    return (struct job_row){.name = name,
                            .user = user,
                            .spec = spec,
                            .state = JOB_QUEUED,
                            .submitted = 1700000000000000 + (usec_t)i,
                            .code = -1};
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
    int64_t id;
    for (unsigned k = 0; k < b->size; k++) {
        struct job_row row = make_job(i++);
        need(store_job_add(b->s, &row, &id, &err) == 0, err.text);
    }
    need(store_commit(b->s, &err) == 0, err.text);
}

struct contender {
    const char *name;
    void (*run)(void *ctx);
    void *ctx;
    unsigned rows;
    double rate[ROUNDS]; /* commits per second */
};

static void race(struct contender *c, size_t n)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++) {
            unsigned commits = 0;
            double start = now_ms(), end;
            do {
                c[i].run(c[i].ctx);
                commits++;
                end = now_ms();
            } while (end - start < ROUND_MS);
            c[i].rate[round] = commits / (end - start) * 1e3;
        }
    }
    for (size_t i = 0; i < n; i++)
        qsort(c[i].rate, ROUNDS, sizeof(double), compare);
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
        {"write 4 KiB, fdatasync", write_and_sync, &log, 1, {0}},
        {"append 4 KiB, fdatasync", append_and_sync, &grows, 1, {0}},
        {"plain SQLite, 1 row", commit_plain, stmt, 1, {0}},
        {"store, 1 job", commit_jobs, &batches[0], 1, {0}},
        {"store, 10 jobs", commit_jobs, &batches[1], 10, {0}},
        {"store, 100 jobs", commit_jobs, &batches[2], 100, {0}},
        {"store, 1000 jobs", commit_jobs, &batches[3], 1000, {0}},
    };
    race(c, COUNT_OF(c));
    printf("durable commits in %s, medians of %d rounds, in turns\n", directory, ROUNDS);
    printf("%-26s %10s %10s %12s %12s\n", "", "commits/s", "rows/s", "of fdatasync", "of SQLite");
    double disk = c[0].rate[ROUNDS / 2], plain = c[2].rate[ROUNDS / 2];
    for (size_t i = 0; i < COUNT_OF(c); i++) {
        double rate = c[i].rate[ROUNDS / 2];
        printf("%-26s %10.0f %10.0f %11.2fx %11.2fx\n", c[i].name, rate, rate * c[i].rows,
               rate * c[i].rows / disk, rate * c[i].rows / plain);
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
    int64_t id;
    for (uint64_t i = 0; i < jobs; i++) {
        struct job_row row = make_job(i);
        row.state = i % 2000 == 0 ? (i % 4000 ? JOB_QUEUED : JOB_RUNNING)
                    : i % 17 == 0 ? JOB_FAILED
                                  : JOB_DONE;
        row.ended = job_state_over(row.state) ? row.submitted : 0;
        need(store_job_add(s, &row, &id, &err) == 0, err.text);
        struct attempt_row attempt = {.job = id, .n = 1, .state = row.state, .node = "n1"};
        need(store_attempt_add(s, &attempt, &err) == 0, err.text);
        if (i % 10000 == 9999)
            need(store_commit(s, &err) == 0, err.text);
    }
    need(store_commit(s, &err) == 0, err.text);
}

static int see_job(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += strlen(row->spec) + strlen(row->name);
    return 0;
}

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += row->n;
    return 0;
}

enum read_kind { READ_LIST, READ_SHOW, READ_COUNT };

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
    uint64_t count[JOB_STATE_COUNT];
    struct job_filter f = r->f;
    f.limit = PAGE;
    f.after = r->anywhere ? id : 0;
    int rc = r->kind == READ_LIST   ? store_job_list(s, &f, see_job, &seen, &err)
             : r->kind == READ_SHOW ? store_job_get(s, id, see_job, &seen, &err)
                                    : store_job_count(s, count, &err);
    if (rc == 0 && r->kind == READ_SHOW)
        rc = store_attempt_list(s, id, see_attempt, &seen, &err);
    need(rc == 0, err.text);
}

static void bench_reads(uint64_t jobs)
{
#define BIT(state) (1U << JOB_##state)
    static const struct reading readings[] = {
        {"newest", READ_LIST, false, {.brief = true}},
        {"newest, with specs", READ_LIST, false, {0}},
        {"from anywhere", READ_LIST, true, {.brief = true}},
        {"queued or running", READ_LIST, false, {.states = BIT(QUEUED) | BIT(RUNNING)}},
        {"done or failed, anywhere", READ_LIST, true, {.states = BIT(DONE) | BIT(FAILED)}},
        {"failed, anywhere", READ_LIST, true, {.states = BIT(FAILED), .brief = true}},
        {"of a user, anywhere", READ_LIST, true, {.user = "user7", .brief = true}},
        {"of a user, queued", READ_LIST, false, {.user = "user0", .states = BIT(QUEUED)}},
        {"name train-123*", READ_LIST, false, {.name = "train-123*", .brief = true}},
        {"name train-* anywhere", READ_LIST, true, {.name = "train-*", .brief = true}},
        {"one job and its attempts", READ_SHOW, true, {0}},
        {"counts by state", READ_COUNT, true, {0}},
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
