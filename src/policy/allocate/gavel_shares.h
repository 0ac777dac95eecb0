/* The shares of time that gavel's objectives ask for. */
#ifndef POLICY_ALLOCATE_GAVEL_SHARES_H
#define POLICY_ALLOCATE_GAVEL_SHARES_H

#include "model/plan.h"
#include "policy/order.h"

enum gavel_objective { GAVEL_FAIR, GAVEL_LAS, GAVEL_FINISH, GAVEL_MAKESPAN, GAVEL_COST };

struct gavel_shares {
    const struct snapshot *s;
    struct arena *arena;
    enum gavel_objective objective;
    const double *price;   /* by pool */
    const struct keyed *k; /* the active tasks */
    const double *rate;    /* [index in k x pools + pool]: its speed there; 0 = not offered */
    struct memo *memo;     /* by index in k; see gavel.c */
};

/* Sets memo.pool[0] of each task to its shares, those of tasks without any rate to 0, and what
 * the objective `finish` remembers. */
void gavel_divide(const struct gavel_shares *g);

#endif
