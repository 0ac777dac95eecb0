/* The units that an allocator has left to give. It counts by pool; a job that
 * must be whole on one node is counted by node as well, so that what is granted
 * can also be placed. */
#ifndef POLICY_BUDGET_H
#define POLICY_BUDGET_H

#include "model/plan.h"
#include "policy/room.h"

struct budget {
    const struct snapshot *s;
    struct arena *arena;
    units_t free[POOLS_MAX];
    bool by_node;      /* some task must be whole */
    struct room room;  /* then: free units by node */
    uint32_t *node_of; /* then: by task, the node it was counted on */
    struct {           /* the last answer about memory and CPUs beside GPUs */
        units_t cpus, most;
        int64_t memory_mb;
        unsigned pool;
    } fit;
};

/* The pool that a task competes in: its own, else the one where it is fastest. */
unsigned budget_pool(const struct snapshot *s, const struct task *t);

/* The same for an allocator that divides one pool at a time, by position in the order of
 * all active tasks: a task that is bound to no pool goes where it would be done first
 * behind those before it. */
const uint8_t *budget_pools(const struct snapshot *s, const uint32_t *order, struct arena *a);

/* Everything free. */
void budget_init(struct budget *b, const struct snapshot *s, struct arena *a);

/* Counts by node from now on; done by itself when the first whole task comes. */
void budget_count_by_node(struct budget *b);

/* Takes n units for a task that has none in this plan. A running task stays in
 * its pool, and on its node while that has room; another gets the pool in which
 * it is fastest. False, and nothing taken, when they are not there. */
bool budget_take(struct budget *b, uint32_t task, units_t n, unsigned *pool);

/* Takes the units between `from`, which it has, and `to`. */
bool budget_grow(struct budget *b, uint32_t task, unsigned pool, units_t from, units_t to);

/* Gives all n units that the task has back. */
void budget_return(struct budget *b, uint32_t task, unsigned pool, units_t n);

/* Takes and grants; the verdict is set when it fails. */
bool budget_grant(struct budget *b, struct plan *plan, uint32_t task, units_t n);

/* The same with the least that the task runs on. Another pool than its own is chosen by how
 * fast the task could become there with what is left. */
bool budget_grant_least(struct budget *b, struct plan *plan, uint32_t task);

/* The same from this pool alone, for an allocator that divides one pool at a time. */
bool budget_grant_in(struct budget *b, struct plan *plan, uint32_t task, unsigned pool, units_t n);

/* Grants every running task what it holds, as an allocator does that never
 * preempts. */
void budget_keep_running(struct budget *b, struct plan *plan);

/* A bound on what anybody could still take; 0 when there is nothing left. */
units_t budget_most(const struct budget *b);

#endif
