/* Dependencies between jobs. */
#ifndef STORE_DEPS_H
#define STORE_DEPS_H

#include <stdint.h>

#include "base/err.h"

struct store;

/* `on` is 0 when the kind needs no other job. Adding a dependency again changes nothing.
 * ERR_NOT_FOUND when the job does not exist. */
int store_dep_add(struct store *s, int64_t job, int kind, int64_t on, struct err *err);
typedef int (*store_dep_fn)(void *ctx, int64_t job, int kind, int64_t on, struct err *err);
/* Lists those of all jobs that are not over, job by job. */
int store_dep_list(struct store *s, store_dep_fn fn, void *ctx, struct err *err);
/* Lists those of one job, over or not. */
int store_dep_get(struct store *s, int64_t job, store_dep_fn fn, void *ctx, struct err *err);

#endif
