/* Records what each node does over time: how many jobs it has, how busy it is, and which jobs
 * come and go while they run. */
#ifndef SIM_NODE_RECORDER_H
#define SIM_NODE_RECORDER_H

#include "engine/engine.h"
#include "sim/result.h"

struct node_recorder {
    struct sim_result *r;
    struct sim_node_sample *now; /* by node: scratch */
    size_t *last;                /* by node: 1 + index of its last sample; 0 = none yet */
};

void node_recorder_init(struct node_recorder *rec, const struct cluster *c, struct sim_result *r);
/* Notes the state of the nodes at this instant, as far as it has changed. */
void node_recorder_sample(struct node_recorder *rec, const struct engine *e, usec_t now);
/* Fills r->node from what was recorded until `end`, since the first submission. */
void node_recorder_summarise(const struct node_recorder *rec, const struct cluster *c, usec_t from,
                             usec_t end);
void node_recorder_done(struct node_recorder *rec);

#endif
