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

/* Time left on what the task asks for. */
double queue_time_left(const struct snapshot *s, uint32_t task);

#endif
