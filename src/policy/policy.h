/* The contract of a policy.
 *
 * A policy is one const struct. Its function reads a snapshot and writes its part of
 * a plan. It has no other input, no state and no side effects, and allocates only
 * from the plan's arena. The same file runs in the live server, in the simulator and
 * in a replay.
 *
 * - An allocator calls plan_give() for every task that is to hold units, within the
 *   sizes of the pools (see policy/budget.h). Other tasks lose theirs; pinned ones
 *   keep at least their smallest size. It may set plan->order.
 * - A placer sets the nodes of grants whose tasks start, grow or move (see
 *   policy/room.h). It may lower a grant that does not fit, never raise one. It must
 *   not move pinned tasks.
 * - A sharer calls plan_share() for tasks whose share it changes.
 *
 * Each may call plan_wake() to be asked again at some time, plan_remember() to keep
 * what it needs next time, and plan_enlist() to put tasks into lists that describe()
 * names; users are told when a running task changes its list. */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "model/plan.h"
#include "policy/params.h"

/* What a policy says about a task, for people. */
struct remark {
    char list[16];  /* or queue that the task is in; "" = the policy has none */
    char text[320]; /* a sentence or two */
};

struct policy {
    enum axis axis;
    const char *name;
    const char *summary;        /* one line */
    const char *rule;           /* the rule in prose, paragraphs separated by blank lines */
    const char *source;         /* paper or system that it comes from */
    const struct param *params; /* ends with a NULL name; may be NULL */
    bool needs_metric;          /* needs samples of metrics before it decides */
    /* Whether with these parameters it looks at the use of CPUs that was measured; may be NULL. */
    bool (*needs_usage)(const struct params *p);
    bool weighs_costs;   /* an allocator that considers the costs of changes itself */
    bool weighs_sizes;   /* an allocator that chooses sizes by how fast jobs are on them */
    bool sees_deadlines; /* an allocator whose decisions depend on the jobs' deadlines */
    bool soft;           /* a sharer: CPUs that a task does not use go to its neighbours */
    void (*decide)(const struct snapshot *s, const struct params *p, struct plan *plan);
    /* What it says about the task after its last decision; false if nothing. NULL = it never
     * says anything. */
    bool (*describe)(const struct snapshot *s, const struct params *p, uint32_t task,
                     struct remark *out);
};

#endif
