/* The values that the members of a group had when they were compared: one row for each job and
 * step (model/halving.h). */
#ifndef STORE_RUNGS_H
#define STORE_RUNGS_H

#include <stdint.h>

#include "base/err.h"
#include "store/job_state.h"

struct store;

/* Keeps the value that the job had at the step; NAN = it was not a number. The first value
 * stays. ERR_NOT_FOUND when the job does not exist. */
int store_rung_add(struct store *s, int64_t job, int64_t step, double value, struct err *err);

typedef int (*store_rung_fn)(void *ctx, int64_t job, enum job_state state, double value,
                             struct err *err);
/* Lists what the members of a user's group had at the step, by id. */
int store_rung_list(struct store *s, const char *user, const char *group, int64_t step,
                    store_rung_fn fn, void *ctx, struct err *err);

#endif
