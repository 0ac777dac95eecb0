/* How busy the cluster and each node was over time. A sample holds until the next one. */
#ifndef STORE_LOADS_H
#define STORE_LOADS_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Units are units_t. */
struct load_row {
    usec_t at;
    int64_t running, waiting; /* jobs; for a node, those that hold something there, and 0 */
    int64_t cpus, cpus_held, gpus, gpus_held;
    const char *node;      /* "" = the cluster */
    double cpus_used;      /* on average since the sample before, as measured; NAN = not known */
    int64_t memory_mb;     /* 0 = not limited */
    double memory_used_mb; /* by jobs, as measured; NAN = not known */
    int64_t moves;         /* running jobs that were moved there, since there are samples */
};

/* Adds a sample of the cluster, or of a node at the time of one. */
int store_load_add(struct store *s, const struct load_row *row, struct err *err);

/* The moves in the node's newest sample; 0 if it has none. */
int store_load_moves(struct store *s, const char *node, int64_t *moves, struct err *err);

/* Thins samples that are a day older than `now` to the last of each five minutes, and removes
 * those from before `keep`. To be called with each new sample: it looks only at what has just
 * become old. */
int store_load_thin(struct store *s, usec_t now, usec_t keep, struct err *err);

/* Calls fn for the samples since a time, oldest first, each time the cluster's and then those of
 * its nodes. Of several samples within `step`, only the last. The first is the one that holds at
 * `since`. The function's contract is that of other lists: 0 goes on, > 0 ends, < 0 fails. */
typedef int (*store_load_fn)(void *ctx, const struct load_row *row, struct err *err);
int store_load_list(struct store *s, usec_t since, usec_t step, store_load_fn fn, void *ctx,
                    struct err *err);

/* Calls fn for each node with the most CPUs and GPUs that it had since a time. */
int store_load_most(struct store *s, usec_t since, store_load_fn fn, void *ctx, struct err *err);

#endif
