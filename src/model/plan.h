/* What a policy wants: how many units each task holds, on which nodes, and which part of the
 * CPUs it gets. The allocator writes the grants, the placer their nodes, the sharer the CPU
 * limits; the engine checks all of it and carries it out. */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include "model/snapshot.h"

/* Why a task does not hold more units: constant and name for programs. */
#define WHY_CODES(X)                                                                               \
    X(NONE, "")                                                                                    \
    X(NO_ROOM, "no_room")       /* not enough free units */                                        \
    X(BEHIND, "behind")         /* the job ahead of it in the queue does not fit yet */            \
    X(RESERVED, "reserved")     /* a larger job that has waited longer has reserved them */        \
    X(ORDER, "order")           /* jobs that come first by this policy hold the units */           \
    X(FRAGMENTED, "fragmented") /* no single node has enough free units */                         \
    X(MEMORY, "memory")         /* no node has enough free memory */                               \
    X(COST, "cost")             /* moving or resizing it now would cost more than it brings */     \
    X(AT_RISK, "at_risk")       /* no share of the cluster ends it before its deadline */          \
    X(NO_GAIN, "no_gain")       /* more units would not make it faster */                          \
    X(RELEASING, "releasing")   /* its units are being released by other jobs */                   \
    X(TARGET, "target")         /* it has reached its target and was taken down to the floor */    \
    X(BALANCED, "balanced")     /* it has what the policy gives it */

enum why {
#define X(name, code) WHY_##name,
    WHY_CODES(X)
#undef X
};

/* "no_room", for programs. */
const char *why_name(enum why why);

struct verdict {
    enum why why;
    uint32_t who; /* the task that is in the way, or TASK_NONE */
};

struct grant {
    uint32_t task;
    uint8_t pool;
    bool moved;      /* it goes to `place`; otherwise it stays where it is */
    uint32_t not_on; /* 1 + a node that is reserved for another task; 0 = none */
    uint32_t on;     /* 1 + the node on which the allocator has made room; 0 = none */
    units_t n;
    struct placement place;
};

/* The task runs on the units that another one is granted. */
struct ride {
    uint32_t task, host;
};

struct cpu_share {
    uint32_t task;
    units_t limit;
    double weight;
};

/* A policy's statement that a task belongs to one of its lists. */
struct list_write {
    enum axis axis;
    uint32_t task;
    uint8_t list; /* from 1 */
};

/* A policy has looked at what the task has reported since the last time. */
struct measurement {
    uint32_t task;
    double bandwidth; /* bytes per second that count as all of a node's disk or network */
};

enum memo_scope { MEMO_TASK, MEMO_NODE, MEMO_ALL };

struct memo_write {
    enum memo_scope scope;
    enum axis axis;
    uint32_t index; /* task or node */
    struct memo memo;
};

struct plan {
    struct arena *arena; /* of everything that the plan points to */
    struct grant *grants;
    uint32_t n, cap;
    uint32_t *grant_of;    /* by task: index into grants, TASK_NONE = none */
    const uint32_t *order; /* all active tasks in a new order, or NULL */
    bool by_submit;        /* that order is by class, submit time and id */
    usec_t wake_at;        /* when to decide again even if nothing happens */
    usec_t start_wake_at;  /* the same, if the plan starts a task */
    struct verdict *why;   /* by task; NULL = not wanted */
    struct cpu_share *shares;
    uint32_t nshares, shares_cap;
    struct memo_write *memos;
    uint32_t nmemos, memos_cap;
    struct list_write *lists; /* of tasks whose list changes */
    uint32_t nlists, lists_cap;
    struct measurement *measured;
    uint32_t nmeasured, measured_cap;
    struct ride *rides;
    uint32_t nrides, rides_cap;
};

/* The arena must outlive the plan. `explain` asks for verdicts. */
void plan_init(struct plan *p, const struct snapshot *s, struct arena *a, bool explain);

/* Grants n units of the pool, or changes the grant. n = 0 takes it back. */
void plan_give(struct plan *p, uint32_t task, unsigned pool, units_t n);

/* Units granted so far. */
static inline units_t plan_units(const struct plan *p, uint32_t task)
{
    return p->grant_of[task] == TASK_NONE ? 0 : p->grants[p->grant_of[task]].n;
}

static inline struct grant *plan_grant(const struct plan *p, uint32_t task)
{
    return p->grant_of[task] == TASK_NONE ? NULL : &p->grants[p->grant_of[task]];
}

/* Where the plan has a task with this grant. */
static inline struct placement plan_place(const struct snapshot *s, const struct grant *g)
{
    if (!g->n)
        return (struct placement){0};
    return g->moved ? g->place : s->tasks[g->task].at;
}

static inline void plan_deny(struct plan *p, uint32_t task, enum why why, uint32_t who)
{
    if (p->why)
        p->why[task] = (struct verdict){why, who};
}

static inline void plan_wake(struct plan *p, usec_t at)
{
    if (at < p->wake_at)
        p->wake_at = at;
}

/* For what follows from a start. An allocator does not know whether the placer finds a place
 * for the task, and must not be woken forever if it does not. */
static inline void plan_wake_started(struct plan *p, usec_t at)
{
    if (at < p->start_wake_at)
        p->start_wake_at = at;
}

/* Lets a task without a grant run on the units that `host` is granted. Both must have their
 * speeds on shared units (job.sharing), and need no memory, devices or CPUs of their own. If the
 * host finds no place, the task waits. */
void plan_ride(struct plan *p, uint32_t task, uint32_t host);
void plan_share(struct plan *p, uint32_t task, units_t limit, double weight);
/* Puts the task into this list of the policy, from 1. Does nothing if it is there already,
 * or does not run after this plan. */
void plan_enlist(struct plan *p, const struct snapshot *s, enum axis axis, uint32_t task,
                 uint8_t list);
/* Says that the policy measures the growth of the task now: the engine keeps a point of its
 * series. */
void plan_measured(struct plan *p, uint32_t task, double bandwidth);
void plan_remember(struct plan *p, enum axis axis, enum memo_scope scope, uint32_t index,
                   const struct memo *memo);

#endif
