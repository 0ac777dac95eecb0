/* Records how allocations and the queue change over time, for a report. */
#ifndef SIM_RECORDER_H
#define SIM_RECORDER_H

#include "engine/engine.h"
#include "sim/result.h"

struct recorder {
    struct sim_result *r;
    struct sim_segment *open; /* by task: the segment under way, n = 0 = none */
    uint32_t cap;
};

void recorder_init(struct recorder *rec, struct sim_result *r);
/* Closes and opens segments of the tasks that the last step touched, and notes moves. */
void recorder_follow(struct recorder *rec, const struct engine *e, usec_t now);
/* Notes the queue and the use of the cluster at this instant. */
void recorder_sample(struct recorder *rec, const struct engine *e, usec_t now);
void recorder_done(struct recorder *rec);

#endif
