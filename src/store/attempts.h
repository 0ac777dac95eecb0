/* Attempts of jobs: a row for each run of a job's command, with where it runs and what should
 * become of it. */
#ifndef STORE_ATTEMPTS_H
#define STORE_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "store/job_state.h"

struct store;

/* An attempt as it is stored. Texts are borrowed, as in struct job_row. */
struct attempt_row {
    int64_t job;
    uint32_t n;
    enum job_state state;
    char token[33];                 /* that its conductor must present */
    usec_t created, started, ended; /* wall clock; 0 = not yet */
    /* Where it runs and what it holds, in thousandths. */
    const char *runtime, *node;
    const char *gpu_type; /* of its GPUs; "" = it has none */
    int64_t cpus, gpus, cpu_limit;
    double cpu_weight;
    char boot[40]; /* boot id of its machine, which changes at a restart */
    int64_t pid;   /* of its conductor; 0 = unknown */
    /* What should become of it. */
    bool paused;
    char stop[16];      /* why it is being stopped; "" = it is not */
    usec_t grace;       /* of the stop */
    int64_t stopped_by; /* job that it made room for; 0 = none */
    usec_t frozen_at;   /* when it was last frozen in place for that job; 0 = never */
    usec_t lost;        /* running time that has to be repeated after its stop; -1 = unknown */
    /* What is known about it. */
    int64_t seq;   /* of the last progress report that was stored */
    usec_t before; /* the job's running time when the attempt began */
    usec_t ran;    /* the job's running time when it last began to run without a break, */
    usec_t since;  /* and the wall clock then; 0 = at its start */
    double cpu_seconds, memory_max_mb;
    int32_t code, signal;
    usec_t lease;       /* of its conductor, which ends its job with it; 0 = none */
    bool fenced;        /* given up while its node was lost: what is left of it must be killed */
    bool fetch;         /* its log is elsewhere, and not all of it is here yet */
    const char *reason; /* how it ended, as text; may be "" */
    const char *error;  /* what it printed when it failed; may be "" */
    uint32_t part;      /* 0, or that of a job on several nodes */
    const char *left_running; /* processes that it left running and that were ended; may be "" */
};

/* ERR_NOT_FOUND when the job does not exist, ERR_CONFLICT when it has this attempt. */
int store_attempt_add(struct store *s, const struct attempt_row *row, struct err *err);
/* Writes the columns that can change: all except job, n, token and created. */
int store_attempt_save(struct store *s, const struct attempt_row *row, struct err *err);
/* Writes `lost` alone. */
int store_attempt_set_lost(struct store *s, int64_t job, uint32_t n, usec_t lost, struct err *err);
typedef int (*store_attempt_fn)(void *ctx, const struct attempt_row *row, struct err *err);
/* Lists the attempts of one job in order, or with job 0 all that are not over or whose log
 * is not here yet. */
int store_attempt_list(struct store *s, int64_t job, store_attempt_fn fn, void *ctx,
                       struct err *err);
/* The same for the parts of attempts, without part 0. */
int store_part_list(struct store *s, int64_t job, store_attempt_fn fn, void *ctx, struct err *err);

#endif
