/* The choice of the policy `auto`: which of its candidates does best with the tasks that an engine
 * has now. Pure; the caller has the clock.
 *
 *   if (chooser_due(&c, e, now)) {
 *       chooser_begin(&c, e, now);
 *       while (chooser_work(&c))
 *           ;                                   perhaps some of it later
 *       if (chooser_end(&c, &choice))
 *           ... an EVENT_POLICY with choice.combo ...
 *   }
 *
 * The engine's own estimates of the work of its tasks are what it knows. */
#ifndef ADVISOR_CHOOSER_H
#define ADVISOR_CHOOSER_H

#include "advisor/whatif.h"
#include "policy/allocate/auto.h"

struct chooser {
    struct whatif *w;   /* the comparison that is under way; NULL = none */
    struct combo combo; /* that it compares with */
    usec_t begun;       /* of it, or of the last one; 0 = there was none */
    uint32_t n;         /* candidates that it compares */
    uint8_t policy[32]; /* their numbers; the one in force first */
    unsigned home;      /* number of the one that is usually best */
};

/* A change to another candidate. */
struct choice {
    struct combo combo;
    const char *from, *to; /* names of allocators */
    uint32_t missed_from, missed_to;
    double gain;      /* part by which the goal's figure is smaller */
    const char *goal; /* in words */
};

/* {0} is a chooser that has compared nothing yet. */
void chooser_done(struct chooser *c);

/* When the next comparison may begin; USEC_NEVER if the engine's policy is not auto, or nothing
 * has changed since the last one. */
usec_t chooser_due(const struct chooser *c, const struct engine *e);

void chooser_begin(struct chooser *c, const struct engine *e, usec_t now);
/* Does some of the work, usually less than a millisecond. Returns whether there is more. */
bool chooser_work(struct chooser *c);
/* Ends the comparison. Returns whether another candidate is better by enough; *out then says
 * which, and why. If not all candidates were compared, the one in force stays. */
bool chooser_end(struct chooser *c, struct choice *out);

#endif
