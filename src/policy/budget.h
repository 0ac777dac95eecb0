/* The units that an allocator can still grant. They are counted by pool. Jobs that must fit
 * on one node are counted by node as well, so that what is granted can also be placed. */
#ifndef POLICY_BUDGET_H
#define POLICY_BUDGET_H

#include "model/plan.h"
#include "policy/room.h"

struct budget {
    const struct snapshot *s;
    struct arena *arena;
    units_t free[POOLS_MAX];
    bool by_node;      /* some task must fit on one node */
    struct room room;  /* if by_node: free units by node */
    uint32_t *node_of; /* if by_node: by task, the node on which it is counted */
    struct {           /* the last answer about memory, devices and CPUs per GPU */
        units_t cpus, most, worker;
        uint32_t nodes;
        bool apart;
        int64_t memory_mb;
        struct devices devices;
        unsigned pool;
    } fit;
};

/* The pool in which a task competes: its own, otherwise the one in which it is fastest. */
unsigned budget_pool(const struct snapshot *s, const struct task *t);

/* The same for all active tasks, by their position in the order, for an allocator that
 * divides one pool at a time: a task that is not bound to a pool goes where it would be done
 * first after the tasks before it. */
const uint8_t *budget_pools(const struct snapshot *s, const uint32_t *order, struct arena *a);

/* Everything is free. */
void budget_init(struct budget *b, const struct snapshot *s, struct arena *a);

/* Counts by node from now on. Happens by itself with the first task that must fit on one
 * node. */
void budget_count_by_node(struct budget *b);

/* Takes n units for a task that has none in this plan. A running task stays in its pool, and
 * on its node while there is room; any other goes to the pool in which it is fastest. If
 * there are not enough units, returns false and takes nothing. */
bool budget_take(struct budget *b, uint32_t task, units_t n, unsigned *pool);

/* How many further units the task, which has n in this plan, could take. */
units_t budget_room(const struct budget *b, uint32_t task, unsigned pool, units_t n);

/* Takes further units for a task that has `from`, up to `to`. */
bool budget_grow(struct budget *b, uint32_t task, unsigned pool, units_t from, units_t to);

/* Returns all n units of the task. */
void budget_return(struct budget *b, uint32_t task, unsigned pool, units_t n);

/* Takes units and grants them; sets the verdict if there are not enough. */
bool budget_grant(struct budget *b, struct plan *plan, uint32_t task, units_t n);

/* The same with the smallest size of the task. If it is not bound to a pool, the pool is
 * chosen by how fast the task could become with what is left there. */
bool budget_grant_least(struct budget *b, struct plan *plan, uint32_t task);

/* The same from this pool only, for an allocator that divides one pool at a time. */
bool budget_grant_in(struct budget *b, struct plan *plan, uint32_t task, unsigned pool, units_t n);

/* Grants every running task what it holds, for allocators that never preempt. */
void budget_keep_running(struct budget *b, struct plan *plan);

/* An upper bound on what any task could still take; 0 if nothing is left. */
units_t budget_most(const struct budget *b);

#endif
