/* Combinations of policies: one on each axis, as users spell them. */
#ifndef POLICY_COMBO_H
#define POLICY_COMBO_H

#include "policy/policy.h"

const char *axis_name(enum axis axis);

/* A policy on each axis, with its parameters. */
struct combo {
    const struct policy *policy[AXES];
    struct params params[AXES];
    char name[192]; /* as the user spelt it */
    /* The user's allocator is auto (policy/allocate/auto.h): policy[AXIS_ALLOCATE] is the candidate
     * in force, and these are auto's own parameters. */
    bool automatic;
    struct params automation;
};

/* Parses a preset, an allocator, or "allocate=A,place=P,share=S" (any part may
 * be left out), each with parameters after colons: "las:thresholds=3250",
 * "fifo:order=strict". A preset's parameters go to the first of its policies that
 * has them. The error about an unknown name suggests the nearest one. */
int combo_parse(const char *text, struct combo *out, struct err *err);

/* Whether one of its policies looks at samples of metrics or usage. */
bool combo_needs_samples(const struct combo *c);

#endif
