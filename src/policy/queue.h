/* Serving an ordered queue of tasks that are never resized. */
#ifndef POLICY_QUEUE_H
#define POLICY_QUEUE_H

#include "policy/budget.h"
#include "policy/order.h"

/* Sorts the tasks by their keys, makes that the order, and serves them in it: each task gets
 * what it requests if that is left, otherwise it is skipped, and stopped if it runs. */
void queue_serve(const struct snapshot *s, struct keyed *k, struct plan *plan);

/* The same for tasks that are sorted; the plan keeps its order. */
void queue_grant(const struct snapshot *s, const struct keyed *k, struct plan *plan);

/* The service that the task has attained. The time that its last restart took does not count
 * while it runs: otherwise a task whose restart takes longer than what a queue serves would
 * be preempted forever without making progress. *ahead is the part of the restart that is
 * still to come. */
double queue_service(const struct task *t, usec_t now, usec_t *ahead);

/* Until when a task that was restarted at a cost is not preempted: it first runs ten times as
 * long as the restart took. 0 = it can be. Without that, jobs whose restart takes long
 * compared with what a queue serves would do little but restart. */
usec_t queue_keep_until(const struct task *t, usec_t now);

/* Time left on what the task requests. */
double queue_time_left(const struct snapshot *s, uint32_t task);

#endif
