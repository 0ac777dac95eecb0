/* Single jobs: a row each. */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "store/job_state.h"

struct store;

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

#endif
