/* The queues of least attained service, for the policies that build on them. */
#ifndef POLICY_ALLOCATE_LAS_H
#define POLICY_ALLOCATE_LAS_H

#include "policy/order.h"
#include "policy/params.h"

/* The parameters, and their rows in the table of a policy. */
enum { LAS_THRESHOLDS, LAS_KNOB, LAS_PARAMS };
#define LAS_PARAM_ROWS                                                                             \
    [LAS_THRESHOLDS] = {"thresholds",                                                              \
                        PARAM_LIST,                                                                \
                        "3600",                                                                    \
                        1,                                                                         \
                        1e12,                                                                      \
                        NULL,                                                                      \
                        "unit-seconds of service at which a job falls to the next queue"},         \
    [LAS_KNOB] = {"knob",                                                                          \
                  PARAM_NUMBER,                                                                    \
                  "8",                                                                             \
                  0,                                                                               \
                  1e6,                                                                             \
                  NULL,                                                                            \
                  "a job that has waited this many times its run time is promoted; 0 = never"}

struct las {
    double threshold[PARAM_LIST_MAX]; /* unit-microseconds, increasing */
    unsigned n;
    double knob;
};

void las_init(struct las *l, const struct params *p);
/* The queue of a task now, after a promotion that is due. Wakes the plan when a waiting task
 * will be promoted. */
unsigned las_rank(const struct las *l, const struct snapshot *s, uint32_t task, struct plan *plan);
/* After the grants, with queues as keys: wakes the plan when a task that will run reaches its
 * next threshold, or one that is stopped is promoted. */
void las_wake(const struct las *l, const struct snapshot *s, const struct keyed *k,
              struct plan *plan);

#endif
