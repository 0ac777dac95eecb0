/* The contract of a policy.
 *
 * A policy is one const struct. Its function reads a snapshot and writes its
 * part of a plan; it has no other input, no state and no side effect, and
 * allocates only from the plan's arena. The same file runs in the live server,
 * in the simulator and in a replay.
 *
 * - An allocator calls plan_give() for every task that shall hold units (the
 *   others lose theirs), within the pools' sizes: see policy/budget.h. It may
 *   set plan->order.
 * - A placer sets the nodes of grants whose tasks start, grow or move: see
 *   policy/room.h. It may lower a grant that fits nowhere, never raise one.
 * - A sharer calls plan_share() for tasks on nodes where its mind changed.
 *
 * Each may plan_wake() itself, plan_remember() what it needs next time, and
 * plan_enlist() tasks in lists whose names describe() knows: users are told when a
 * running task changes its list. */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "model/plan.h"
#include "policy/params.h"

/* What a policy thinks of a task, for people. */
struct remark {
    char list[16];  /* the list or queue that the task is in; "" = the policy has none */
    char text[320]; /* a sentence or two */
};

struct policy {
    enum axis axis;
    const char *name;
    const char *summary;        /* one line */
    const char *rule;           /* the rule in prose, paragraphs separated by blank lines */
    const char *source;         /* where it comes from */
    const struct param *params; /* ends with a NULL name; may be NULL */
    bool needs_metric;          /* wants samples of the tasks' metrics before it decides */
    bool weighs_costs;          /* an allocator that reckons with the costs of changes itself */
    bool soft;                  /* a sharer: CPUs a task does not use go to its neighbours */
    void (*decide)(const struct snapshot *s, const struct params *p, struct plan *plan);
    /* What it thinks of the task as things are, after its last decision; false when it
     * has nothing to say. NULL = it never has. */
    bool (*describe)(const struct snapshot *s, const struct params *p, uint32_t task,
                     struct remark *out);
};

#endif
