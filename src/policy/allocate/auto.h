/* What the policy `auto` chooses from, and its parameters. advisor/chooser.h makes the choice. */
#ifndef POLICY_ALLOCATE_AUTO_H
#define POLICY_ALLOCATE_AUTO_H

#include "policy/combo.h"

/* Parameters of auto. */
enum { AUTO_NOW, AUTO_GOAL, AUTO_GAIN, AUTO_EVERY, AUTO_BUDGET };

enum auto_goal {
    GOAL_DEADLINES, /* as few missed deadlines as possible, then the mean completion time */
    GOAL_MEAN,      /* mean completion time */
    GOAL_P99,       /* 99th percentile of completion times */
    GOAL_MAKESPAN,
    GOAL_FAIRNESS, /* worst completion time over that with an equal share */
};

/* The allocators that auto chooses from; the list ends with NULL. They run with their default
 * parameters. */
extern const struct policy *const auto_candidates[];

/* Whether the allocator is auto: some candidate decides, and it may be replaced by another. */
bool combo_is_auto(const struct combo *c);
/* The number of the candidate in force, for a combination that is auto. */
unsigned auto_now(const struct combo *c);
const char *auto_goal_name(const struct combo *c);

/* The same combination with candidate number `to` in force. */
void auto_choose(const struct combo *c, unsigned to, struct combo *out);

#endif
