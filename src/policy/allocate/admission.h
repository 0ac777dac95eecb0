/* Admission by deadline: who can end in time, and what each must hold now. */
#ifndef POLICY_ALLOCATE_ADMISSION_H
#define POLICY_ALLOCATE_ADMISSION_H

#include "policy/allocate/forecast.h"

enum admission_state {
    ADMISSION_LATE,     /* no size would end it in time, or it has no deadline */
    ADMISSION_ADMITTED, /* its plan ends it in time */
    ADMISSION_AT_RISK,  /* it could, but others come first */
};

struct candidate {
    struct demand demand;
    enum admission_state state;
    unsigned need; /* smallest size index that would do on an empty cluster */
    double cost;   /* unit-microseconds that its met deadline takes, over its weight */
    units_t out;   /* units now: what it is given */
    bool pinned;   /* it runs, and keeps at least its smallest size */
};

/* The candidates of one pool, in order of submission. */
struct admission {
    const struct snapshot *s;
    struct arena *arena;
    struct forecast forecast;
    struct candidate *at;
    uint32_t n;
    uint32_t *by_deadline, *by_cost; /* indices of all */
    units_t left;                    /* units that nobody was given */
};

/* Classifies the tasks of the order that would run in this pool; see budget_pools. Late
 * ones that are pinned are given their smallest size. */
void admission_init(struct admission *m, const struct snapshot *s, const uint32_t *order,
                    const uint8_t *pools, unsigned pool, struct arena *a);

/* Admits as many as can end in time, slots of `width` microseconds first. Units
 * that were given before this are not counted on. */
void admission_fill(struct admission *m, double width);

/* Changes what a candidate is given. */
void admission_give(struct admission *m, struct candidate *c, units_t n);

/* Indices of the candidates by a key, then by class, submit and id. */
uint32_t *admission_sort(const struct admission *m, double (*key)(const struct candidate *c));

/* The first time at which an admitted one is planned above what it holds;
 * USEC_NEVER = none. */
usec_t admission_wake(const struct admission *m);

#endif
