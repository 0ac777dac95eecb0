/* The contract of a policy, and the registry of all of them.
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
 * Each may plan_wake() itself and plan_remember() what it needs next time. */
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
    /* The number of the list that describe() would name, from 1; changes are told to
     * users. NULL = it has no lists. */
    unsigned (*list)(const struct snapshot *s, const struct params *p, uint32_t task);
};

/* A well-known system by its three choices, spelt as a combination. */
struct preset {
    const char *name, *summary, *spec;
};

extern const struct policy *const policies[]; /* NULL-terminated, by axis */
extern const struct preset presets[];         /* ends with a NULL name */

const char *axis_name(enum axis axis);

/* One choice on each axis with its parameters. */
struct combo {
    const struct policy *policy[AXES];
    struct params params[AXES];
    char name[192]; /* as the user spelt it */
};

/* Parses a preset, an allocator, or "allocate=A,place=P,share=S" (any part may
 * be left out), each with parameters behind colons: "las:thresholds=3250",
 * "fifo:order=strict". A preset's parameters go to its allocator, or to the
 * one axis that knows them. Unknown names get the nearest one in the error. */
int combo_parse(const char *text, struct combo *out, struct err *err);

#endif
