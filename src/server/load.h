/* Samples of how busy the cluster is: taken when it has changed, at most every 15 seconds. */
#ifndef SERVER_LOAD_H
#define SERVER_LOAD_H

#include "store/loads.h"

struct yard;

/* Something has happened: a sample is due soon. */
void load_changed(struct yard *y);
/* A job on the node was measured to have used this CPU time, or is being moved there. */
void load_used(struct yard *y, uint32_t node, double cpu_s);
void load_moved(struct yard *y, uint32_t node);
/* CPUs that the node's jobs used, on average since the last sample; NAN = not known yet. */
double load_cpus_used(const struct yard *y, uint32_t node);
/* Memory that they were last measured to use, in MB. */
double load_memory_used(const struct yard *y, uint32_t node);
/* Takes the sample that is due. */
void load_turn(struct yard *y);
/* How busy the cluster is now, and then each of its nodes, as store_load_list() gives them. */
int load_now(const struct yard *y, store_load_fn fn, void *ctx, struct err *err);

#endif
