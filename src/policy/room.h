/* Room on nodes: what is free on each while a plan is made. */
#ifndef POLICY_ROOM_H
#define POLICY_ROOM_H

#include "model/plan.h"

struct room {
    const struct snapshot *s;
    struct arena *arena;
    units_t *cpu, *gpu;       /* free, by node; 0 on nodes that are not up */
    int64_t *memory;          /* free; INT64_MAX where it is not limited */
    struct devices *devices;  /* free */
    units_t *tree[POOLS_MAX]; /* largest free number of each subtree, built when needed */
    uint32_t leaves;          /* nodes, rounded up to a power of two */
};

/* All nodes are empty, except for the memory of tasks that keep it. */
void room_init_kept(struct room *r, const struct snapshot *s, struct arena *a);
/* What is free now, and what tasks that the plan stops or shrinks give up (a task that
 * shrinks leaves its smallest parts first). The memory of paused tasks that get no units
 * counts as free, unless they keep it. */
void room_init(struct room *r, const struct snapshot *s, const struct plan *plan);

/* The same after everything that the plan has placed so far. */
void room_init_placed(struct room *r, const struct snapshot *s, const struct plan *plan);

units_t room_free(const struct room *r, unsigned pool, uint32_t node);

/* Units of the pool that the job can get on this node, given its memory, its devices and its
 * CPUs per GPU. `resident`: it is there already and needs no more memory and devices. */
units_t room_for(const struct room *r, const struct job *j, unsigned pool, uint32_t node,
                 bool resident);

void room_take(struct room *r, const struct job *j, unsigned pool, uint32_t node, units_t n,
               bool resident);
void room_give(struct room *r, const struct job *j, unsigned pool, uint32_t node, units_t n,
               bool leaves);

/* Makes nothing of the pool free on the node; returns what was. */
units_t room_block(struct room *r, unsigned pool, uint32_t node);
/* Makes that free again. */
void room_unblock(struct room *r, unsigned pool, uint32_t node, units_t n);

/* The first node from `from` on, in index order, with room for n units of this job;
 * TASK_NONE if there is none. */
uint32_t room_first(struct room *r, const struct job *j, unsigned pool, units_t n, uint32_t from);
/* The node with the least sufficient room, the first of equals. */
uint32_t room_tightest(struct room *r, const struct job *j, unsigned pool, units_t n);
/* The node with the most room for this job, the first of equals. */
uint32_t room_widest(struct room *r, const struct job *j, unsigned pool);

/* What is left of a placement that shrinks to n units: it leaves its smallest parts first, but the
 * first node of a job with workers last. */
struct placement room_shrink(const struct job *j, const struct placement *at, units_t n,
                             struct arena *a);

#endif
