/* What an engine did, as lines of text: one for each effect of a step.
 *
 *   t=10 start b 2 on n1:2
 *   t=20 resize a 4->2 on n1:2 stops 5
 *   t=20 move a 2 on n2:2
 *   t=30 preempt c 4
 *   t=30 share a 1.5 of limit 2 weight 1
 *   t=30 list a allocate 1->2
 *
 * Times are seconds; units, limits and weights of CPUs are in whole units. */
#ifndef SUPPORT_EFFECTS_H
#define SUPPORT_EFFECTS_H

#include "base/str.h"
#include "engine/engine.h"

/* Appends the effects of the last step, which was taken at `now`. */
void effects_add(struct str *out, const struct engine *e, usec_t now);
/* The same without changes of shares. */
void effects_add_but_shares(struct str *out, const struct engine *e, usec_t now);
/* Appends the share that a task has now, as if it had changed. */
void effects_add_share(struct str *out, const struct task *t, usec_t now);

/* Appends "t=SECONDS " and, behind it, units as a number without needless zeros. */
void effects_add_time(struct str *out, usec_t now);
void effects_add_units(struct str *out, units_t n);

#endif
