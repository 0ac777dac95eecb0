/* Attempts of jobs. */
#ifndef STORE_ATTEMPTS_H
#define STORE_ATTEMPTS_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "store/job_state.h"

struct store;

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

#endif
