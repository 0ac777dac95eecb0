/* Clusters and jobs drawn by lot, for worlds of support/chaos.h. */
#ifndef SUPPORT_CHAOS_WORLD_H
#define SUPPORT_CHAOS_WORLD_H

#include "base/rng.h"
#include "model/cluster.h"

/* One to six nodes with CPUs, GPUs of up to two types, and memory or none. */
void chaos_cluster(struct rng *r, struct arena *a, struct cluster *out);

/* n jobs with ids 0..n-1 in order of submission, normalised. Some may be larger
 * than the cluster. */
struct job *chaos_jobs(struct rng *r, struct arena *a, const struct cluster *c, uint32_t n);

/* A number from lo to hi, both included. */
int64_t chaos_between(struct rng *r, int64_t lo, int64_t hi);
/* True `percent` times in a hundred. */
bool chaos_maybe(struct rng *r, unsigned percent);

#endif
