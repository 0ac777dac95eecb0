/* A loss curve: the value of a job's metric over the share of its work that is
 * done (or over its steps, for the fitted forms). */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include <stdbool.h>

enum loss_kind {
    LOSS_NONE,
    LOSS_EXP,     /* E(x) = 1 - (1 - exp(-a x)) / (1 - exp(-a)): falls from 1 to 0 */
    LOSS_INVERSE, /* E(s) = 1 / (a s + b) + c: Optimus' form */
    LOSS_POWER,   /* E(s) = a (s + 1)^-b + c */
    LOSS_DECAY,   /* E(s) = a exp(-b s) + c */
};

struct loss {
    enum loss_kind kind;
    double a, b, c;
};

double loss_at(const struct loss *l, double x);

/* The smallest x in [0, limit] with E(x) <= target; negative if there is none. All forms
 * fall monotonically. */
double loss_reaches(const struct loss *l, double target, double limit);

#endif
