/* Single jobs, a row each, and the requests that they came from.
 *
 * A request is what a user submitted, kept once however many jobs came from it; it never
 * changes. Whatever can change about a job has a column. */
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
    int64_t id;      /* 0 in store_job_add(): the store gives one */
    int64_t request; /* of store_request_add() */
    const char *name, *user;
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
    /* Terms in force: as requested, or as a user changed them since. */
    int64_t cpus_min, cpus_max, gpus_min, gpus_max; /* thousandths */
    int64_t memory_mb;                              /* 0 = none */
    usec_t time_limit;                              /* 0 = none */
    /* What the engine knows of it. */
    double work, done, attained;
    usec_t run_time, wait_time;
    usec_t resize_cost; /* measured: it stands still for this long at a resize; 0 = not yet */
    /* The last progress; NAN and "" = unknown. */
    double step, total, epoch, epochs, loss, metric, rate;
    char metric_name[32], progress_source[16];
    usec_t progress_at; /* wall clock */
    /* Of its request, and only read: the command as a JSON list. */
    const char *command;
};

/* ERR_NOT_FOUND without its request, ERR_CONFLICT when the id is taken, ERR_LIMIT when no
 * id is left. */
int store_job_add(struct store *s, const struct job_row *row, int64_t *id, struct err *err);
/* Writes the columns that can change: all but id, request, name, user, array,
 * array_index and submitted. ERR_NOT_FOUND when there is no such job. */
int store_job_save(struct store *s, const struct job_row *row, struct err *err);

typedef int (*store_job_fn)(void *ctx, const struct job_row *row, struct err *err);
/* ERR_NOT_FOUND when there is none. */
int store_job_get(struct store *s, int64_t id, store_job_fn fn, void *ctx, struct err *err);

/* A copy with texts of its own, which job_row_done() frees. */
struct job_row job_row_copy(const struct job_row *row);
void job_row_done(struct job_row *row);

/* `text` is the whole request as JSON, `command` the list in it, which job rows show. */
int store_request_add(struct store *s, const char *text, const char *command, int64_t *id,
                      struct err *err);
/* The text of the request; the caller frees it. ERR_NOT_FOUND when there is none. */
int store_request_get(struct store *s, int64_t id, char **text, struct err *err);

#endif
