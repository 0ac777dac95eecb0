/* Growth efficiency: how much a job's metric moves per second and per CPU, for
 * the sharers that follow it. */
#ifndef POLICY_GROWTH_H
#define POLICY_GROWTH_H

#include "model/plan.h"

/* FlowCon's lists. */
enum growth_list { GROWTH_NEW, GROWTH_WATCHING, GROWTH_COMPLETING };

/* A task on a node, as its sharer sees it. In the memo of the task: i[0] = list,
 * i[1] = 0 not seen, 1 seen, 2 measured, i[2] = when, i[3] = limit, d[0] = metric
 * then, d[1] = CPU time then, d[2] = peak of G, d[3] = last G over that peak. */
enum { GROWTH_LIMIT_SCALE = 1000000000 };

struct growth {
    uint32_t task;
    struct memo memo;
    bool measured; /* there is a G */
    double g;      /* in [0, 1]: G as a share of the job's own peak */
    double limit;  /* share of the node, 0..1: what the sharer decides */
};

/* The tasks that will share the CPUs of each node under the plan, by submission. A
 * task on several nodes has what it was granted, and so have the CPUs beside GPUs. */
struct residents {
    struct growth *at;
    uint32_t *start; /* by node: index of its first, start[n] = behind the last */
    units_t *cpus;   /* by node: what is to be shared */
};
struct residents growth_residents(const struct snapshot *s, struct plan *plan);

/* Takes a new measurement of the task at `now` if time has passed. */
void growth_measure(struct growth *g, const struct snapshot *s);

/* Turns the limits of one node, which has these CPUs to share, into weights: each
 * gets up to its limit, and what is left over goes to those that can use more.
 * Writes the shares and the memos into the plan. */
void growth_share(struct plan *plan, const struct snapshot *s, units_t shared, struct growth *g,
                  uint32_t n);

#endif
