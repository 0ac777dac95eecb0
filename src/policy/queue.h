/* Serving an ordered queue of tasks that are never resized. */
#ifndef POLICY_QUEUE_H
#define POLICY_QUEUE_H

#include "policy/budget.h"
#include "policy/order.h"

/* Sorts the tasks by their keys, makes that the order, and goes through it:
 * each task gets what it asks for if that is left, else it is passed over (and
 * stopped if it runs). */
void queue_serve(const struct snapshot *s, struct keyed *k, struct plan *plan);

/* The same for tasks that are in order, which is not made that of the plan. */
void queue_grant(const struct snapshot *s, const struct keyed *k, struct plan *plan);

/* Service that the task has attained. What the start of this spell of running
 * stopped it for does not count while it runs: else one whose restart takes longer
 * than what it may be served would be preempted for ever without any progress.
 * *ahead is what is still to come of that stop. */
double queue_service(const struct task *t, usec_t now, usec_t *ahead);

/* A task that came back at a cost is left in peace until it has run ten times as long:
 * until when, or 0. Without that, jobs whose restart takes long compared with what a queue
 * serves would do little else than start. */
usec_t queue_peace(const struct task *t, usec_t now);

/* Time left on what the task asks for. */
double queue_time_left(const struct snapshot *s, uint32_t task);

#endif
