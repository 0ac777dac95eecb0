/* Single jobs, one row each, and the requests that they came from.
 *
 * A request is what a user submitted. It is stored once, however many jobs came from it, and
 * never changes. Whatever can change about a job has a column. */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "store/job_state.h"

struct store;

/* `array` in store_job_add() for the first job of an array, whose id is not known yet. The id
 * is stored instead. */
#define JOB_ARRAY_FIRST (-1)

/* A job as it is stored. Texts are borrowed: by the caller during a callback, by the store
 * during a call. */
struct job_row {
    int64_t id;      /* 0 in store_job_add(): the store chooses one */
    int64_t request; /* of store_request_add() */
    const char *name, *user;
    enum job_state state;
    bool held; /* by a user: no other attempt begins */
    int32_t priority;
    int64_t array; /* id of the first job of its array, 0 = none */
    int64_t array_index;
    usec_t submitted, started, ended; /* wall clock; 0 = not yet */
    usec_t deadline;                  /* wall clock; 0 = none */
    usec_t eligible;                  /* does not start before (back-off); 0 = at once */
    uint32_t attempt;                 /* the last one begun; 0 = none */
    uint32_t failures;                /* attempts that failed on their own */
    int32_t code;                     /* exit code, or 128 + signal; -1 = not over */
    const char *reason;               /* why it ended as it did, or why it waits; may be "" */
    const char *error;                /* what its last failed attempt printed; may be "" */
    /* Current terms: as requested, or as a user changed them. */
    int64_t cpus_min, cpus_max, gpus_min, gpus_max; /* thousandths */
    int64_t memory_mb;                              /* 0 = none */
    usec_t time_limit;                              /* 0 = none */
    /* What the engine knows about it. */
    double work, done, attained;
    usec_t run_time, wait_time;
    usec_t resize_cost; /* measured pause at a resize; 0 = not yet */
    usec_t move_cost;   /* measured pause at a move to another node; 0 = not yet */
    usec_t risk;        /* the deadline that was announced to be at risk; 0 = none */
    /* The node that has its newest checkpoint, and the attempt that made it a home there; "" =
     * none does, or every node can reach it. */
    char checkpoint_node[64];
    uint32_t checkpoint_attempt;
    bool saves; /* it asks whether to save a checkpoint */
    /* The last progress; NAN and "" = unknown. */
    double step, total, epoch, epochs, loss, metric, rate;
    char metric_name[32], progress_source[16];
    char total_from[64]; /* what told the total: "output", "--epochs 14" */
    bool weak;           /* step and total may not be those of the training */
    char diverged[8];    /* the last loss was not a number: "nan", "inf", "-inf"; "" = it was */
    usec_t progress_at;  /* wall clock */
    char group_name[64]; /* "" = none */
    /* The command of its request as a JSON list, and the sweep in it, a JSON list or ""; only
     * read. */
    const char *command, *sweep;
};

/* ERR_NOT_FOUND when the request does not exist, ERR_CONFLICT when the id is taken, ERR_LIMIT
 * when no id is left. */
int store_job_add(struct store *s, const struct job_row *row, int64_t *id, struct err *err);
/* Writes the columns that can change: all except id, request, name, user, array, array_index,
 * group_name and submitted. ERR_NOT_FOUND when the job does not exist. */
int store_job_save(struct store *s, const struct job_row *row, struct err *err);

typedef int (*store_job_fn)(void *ctx, const struct job_row *row, struct err *err);
/* ERR_NOT_FOUND when the job does not exist. */
int store_job_get(struct store *s, int64_t id, store_job_fn fn, void *ctx, struct err *err);

/* Copies the row and its texts; job_row_done() frees them. */
struct job_row job_row_copy(const struct job_row *row);
void job_row_done(struct job_row *row);

/* `text` is the whole request as JSON, `command` and `sweep` ("" = none) the lists in it, which
 * job rows show. */
int store_request_add(struct store *s, const char *text, const char *command, const char *sweep,
                      int64_t *id, struct err *err);
/* Replaces its text. */
int store_request_set(struct store *s, int64_t id, const char *text, struct err *err);
/* The text of the request, which the caller frees. ERR_NOT_FOUND when it does not exist. */
int store_request_get(struct store *s, int64_t id, char **text, struct err *err);

#endif
