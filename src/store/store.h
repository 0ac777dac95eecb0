/* The store: everything that must survive, in one SQLite database. One
 * transaction is open from the first write of a loop turn to store_commit();
 * what is read before sees it, nobody is told of it until then.
 *
 * Texts that are given may hold any bytes: those that are not UTF-8 are kept as
 * U+FFFD. NULL counts as "". A number that is NAN comes back as NAN.
 *
 * A function that writes fails alone when its input is wrong (ERR_INVALID,
 * ERR_NOT_FOUND, ERR_CONFLICT, ERR_LIMIT): what the turn wrote before is still
 * there. When the database fails (ERR_IO, ERR_INTERNAL), all that the turn has
 * written is undone, and every further write of the turn fails, up to
 * store_commit() or store_rollback(). The store can be used after that.
 *
 * Functions that list call `fn` for each row: it returns 0 to go on, 1 to stop,
 * -1 with an error to fail. It may call the store, but not commit or roll back. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Opens or creates the database, migrates an older schema, refuses a newer one
 * and a damaged one with what to do about it. The caller sees to it that one
 * server at a time has it open. */
int store_open(const char *path, struct store **out, struct err *err);
/* For one who only reads, while a server may run: no database is made, none is
 * migrated, and what writes fails. */
int store_open_to_read(const char *path, struct store **out, struct err *err);
/* Drops what was not committed. */
void store_close(struct store *s);

/* Makes what was written since the last commit durable; nothing to do is 0. On
 * failure (ERR_IO: a full disk) all of it is undone. */
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);
/* Whether anything is waiting for store_commit(), be it a failure to be told of. */
bool store_dirty(const struct store *s);

/* ---- jobs ---------------------------------------------------------------- */

/* name, text (which is what the database holds), whether the job is over */
#define JOB_STATES(X)                                                                              \
    X(HELD, "held", false)                                                                         \
    X(QUEUED, "queued", false)                                                                     \
    X(STARTING, "starting", false)                                                                 \
    X(RUNNING, "running", false)                                                                   \
    X(STOPPING, "stopping", false)                                                                 \
    X(DONE, "done", true)                                                                          \
    X(FAILED, "failed", true)                                                                      \
    X(CANCELLED, "cancelled", true)                                                                \
    X(TIMEOUT, "timeout", true)                                                                    \
    X(LOST, "lost", true)

enum job_state {
#define X(name, text, over) JOB_##name,
    JOB_STATES(X)
#undef X
        JOB_STATE_COUNT
};

const char *job_state_name(enum job_state state);
bool job_state_over(enum job_state state);
/* -1 when it is none. */
int job_state_parse(const char *text);

/* As `array` in store_job_add(): the first job of an array, whose id is not known
 * yet. It is kept, and comes back, as that id. */
#define JOB_ARRAY_FIRST (-1)

/* A job as it is kept. Texts are borrowed: by the store for the time of a
 * callback, by the caller for the time of a call. */
struct job_row {
    int64_t id; /* 0 in store_job_add(): the store gives one */
    const char *name, *user;
    const char *spec; /* JSON */
    enum job_state state;
    int32_t priority;
    int64_t array; /* id of the first job of its array, 0 = none */
    int64_t array_index;
    usec_t submitted, started, ended; /* wall clock; 0 = not yet */
    usec_t deadline;                  /* wall clock; 0 = none */
    usec_t eligible;                  /* not before this time (back-off); 0 = at once */
    uint32_t attempt;                 /* the last one begun; 0 = none */
    uint32_t failures;                /* attempts that failed on their own */
    int32_t code;                     /* exit code, or 128 + signal; -1 = not over */
    const char *reason; /* why it ended as it did, or why it waits; "" = nothing to say */
    /* The engine's books. */
    double work, done, attained;
    usec_t run_time, wait_time;
    int64_t cpus_min, cpus_max; /* thousandths that a user set since; 0 = as in the spec */
    double step, total, metric; /* last progress; NAN = unknown */
    const char *said;           /* what else there was of it, JSON; "" or NULL = nothing */
};

int store_job_add(struct store *s, const struct job_row *row, int64_t *id, struct err *err);
/* Writes every column of the row but id, spec, user, array and submitted. */
int store_job_save(struct store *s, const struct job_row *row, struct err *err);
int store_job_save_spec(struct store *s, int64_t id, const char *spec, struct err *err);

typedef int (*store_job_fn)(void *ctx, const struct job_row *row, struct err *err);
/* ERR_NOT_FOUND when there is none. */
int store_job_get(struct store *s, int64_t id, store_job_fn fn, void *ctx, struct err *err);

struct job_filter {
    uint32_t states;         /* bits by job_state; 0 = any */
    const char *name, *user; /* NULL = any; a name may end with '*' */
    int64_t array;           /* 0 = any */
    int64_t after;           /* cursor: ids below this one (newest first); 0 = from the newest */
    bool oldest_first;       /* then `after` means ids above it */
    bool brief;              /* spec is "": it need not be read */
    bool lean;               /* spec without env and script, which may be large */
    uint32_t limit;          /* 0 = no limit */
};
/* By id. A job that changes between two pages is on at most one of them. */
int store_job_list(struct store *s, const struct job_filter *f, store_job_fn fn, void *ctx,
                   struct err *err);
int store_job_count(struct store *s, uint64_t count[JOB_STATE_COUNT], struct err *err);

/* ---- dependencies -------------------------------------------------------- */

/* `on` is 0 when the kind needs no other job. Adding one again changes nothing. */
int store_dep_add(struct store *s, int64_t job, int kind, int64_t on, struct err *err);
typedef int (*store_dep_fn)(void *ctx, int64_t job, int kind, int64_t on, struct err *err);
/* Of jobs that are not over. */
int store_dep_list(struct store *s, store_dep_fn fn, void *ctx, struct err *err);
/* Of one job, over or not. */
int store_dep_get(struct store *s, int64_t job, store_dep_fn fn, void *ctx, struct err *err);

/* ---- attempts ------------------------------------------------------------ */

struct attempt_row {
    int64_t job;
    uint32_t n;
    enum job_state state;
    const char *node;
    const char *token;  /* that its conductor must show */
    const char *places; /* JSON: where, units, CPUs */
    usec_t created, started, ended;
    int32_t code, signal;
    const char *reason;
    double cpu_seconds, memory_max_mb;
    int64_t pid; /* of the conductor; 0 = not known */
};
/* ERR_NOT_FOUND without its job, ERR_CONFLICT when the job has this one. */
int store_attempt_add(struct store *s, const struct attempt_row *row, struct err *err);
/* Writes every column of the row but job, n and created. */
int store_attempt_save(struct store *s, const struct attempt_row *row, struct err *err);
typedef int (*store_attempt_fn)(void *ctx, const struct attempt_row *row, struct err *err);
/* Of one job in order, or (job 0) all that are not over. */
int store_attempt_list(struct store *s, int64_t job, store_attempt_fn fn, void *ctx,
                       struct err *err);

/* ---- events, samples, journal -------------------------------------------- */

/* An event that users can follow; `seq` rises by one each and is never used again,
 * not even when the event is gone. `job` is 0 when it is about none. */
int store_event_add(struct store *s, usec_t at, int64_t job, const char *kind, const char *json,
                    int64_t *seq, struct err *err);
typedef int (*store_event_fn)(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                              const char *json, struct err *err);
/* Behind `after`, of one job or (0) all; limit 0 = no limit. */
int store_event_list(struct store *s, int64_t after, int64_t job, uint32_t limit, store_event_fn fn,
                     void *ctx, struct err *err);
/* The newest, newest first, of one job or (0) all; limit 0 = no limit. */
int store_event_latest(struct store *s, int64_t job, uint32_t limit, store_event_fn fn, void *ctx,
                       struct err *err);

struct sample_row {
    usec_t at;
    double step, metric, units, cpu_time, memory_mb, block_bytes, net_bytes;
};
/* Keeps a bounded, thinned series per job: fewer than 2,000 rows of a year of
 * samples a second, the whole of it evenly and the newest more finely. */
int store_sample_add(struct store *s, int64_t job, uint32_t attempt, const struct sample_row *row,
                     struct err *err);
typedef int (*store_sample_fn)(void *ctx, uint32_t attempt, const struct sample_row *row,
                               struct err *err);
int store_sample_list(struct store *s, int64_t job, store_sample_fn fn, void *ctx, struct err *err);

/* The journal: what the engine was told and what it decided, in order. A boot is a
 * stretch of it that can be replayed on its own: the server begins one when it
 * starts, and may begin another whenever it has written down its whole state, so
 * that the ones before can be trimmed. Boots count from 1. */
int store_boot_begin(struct store *s, usec_t at, int64_t *boot, struct err *err);
int store_journal_add(struct store *s, int64_t boot, const char *kind, const char *data,
                      struct err *err);
typedef int (*store_journal_fn)(void *ctx, int64_t seq, int64_t boot, const char *kind,
                                const char *data, struct err *err);
/* Of one boot or (0) all, in order. */
int store_journal_list(struct store *s, int64_t boot, store_journal_fn fn, void *ctx,
                       struct err *err);
/* The newest of one kind, newest first, among the last STORE_JOURNAL_LATEST rows. */
#define STORE_JOURNAL_LATEST 100000
int store_journal_latest(struct store *s, const char *kind, uint32_t limit, store_journal_fn fn,
                         void *ctx, struct err *err);

/* ---- settings and care --------------------------------------------------- */

/* Name of the setting that holds the version of the program. The server sets it at
 * each start; store_open() names it when it refuses a newer schema. */
#define STORE_META_PROGRAM "program"

/* NULL when it is not set; the caller frees it. */
char *store_meta_get(struct store *s, const char *key);
int store_meta_set(struct store *s, const char *key, const char *value, struct err *err);

/* Deletes what is older than the limits: events and samples of jobs that were over
 * before `before`, events about no job from before it, and boots of the journal
 * that had ended before it. At most STORE_TRIM_STEP rows, so that a loop turn stays
 * short: call it again, turn by turn, until *removed is 0. A job that is done with
 * counts as a row. */
#define STORE_TRIM_STEP 5000
int store_trim(struct store *s, usec_t before, uint64_t *removed, struct err *err);

/* For `trainyard db`: the server may run. None of them creates a database. */

/* Examines all of the database. 0 when it is sound; -1, ERR_IO, when it is not.
 * What was found goes to *report, one thing a line, in every case; the caller frees
 * it. */
int store_check(const char *path, char **report, struct err *err);

/* Called now and then with how many pages of all are done. */
typedef void (*store_progress_fn)(void *ctx, uint64_t done, uint64_t total);
/* Copies the database as it is at one instant to the file `to`, which appears whole
 * or not at all. An older backup there is replaced, anything else is refused.
 * `progress` may be NULL. */
int store_backup(const char *path, const char *to, store_progress_fn progress, void *ctx,
                 struct err *err);
/* Gives unused space back to the file system. Others may have it open; those that
 * write wait meanwhile. */
int store_compact(const char *path, struct err *err);

#endif
