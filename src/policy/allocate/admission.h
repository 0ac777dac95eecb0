/* Admission by deadline: which jobs can end in time, and what each must hold now. */
#ifndef POLICY_ALLOCATE_ADMISSION_H
#define POLICY_ALLOCATE_ADMISSION_H

#include "policy/allocate/forecast.h"

enum admission_state {
    ADMISSION_LATE,     /* no size ends it in time, or it has no deadline */
    ADMISSION_ADMITTED, /* its plan ends it in time */
    ADMISSION_AT_RISK,  /* it could end in time, but other jobs come first */
};

struct candidate {
    struct demand demand;
    enum admission_state state;
    unsigned need; /* smallest size index that suffices on an empty cluster */
    double cost;   /* unit-microseconds that meeting its deadline takes, divided by its weight */
    units_t out;   /* units that it is given now */
    bool pinned;   /* it runs, and keeps at least its smallest size */
};

/* The candidates of one pool, in order of submission. */
struct admission {
    const struct snapshot *s;
    struct arena *arena;
    struct forecast forecast;
    struct candidate *at;
    uint32_t n;
    uint32_t *by_deadline, *by_cost; /* indices of all candidates */
    units_t left;                    /* units that were not given to any */
};

/* Classifies the tasks of the order that belong to this pool (see budget_pools()). Late tasks
 * that are pinned are given their smallest size. */
void admission_init(struct admission *m, const struct snapshot *s, const uint32_t *order,
                    const uint8_t *pools, unsigned pool, struct arena *a);

/* Admits as many jobs as can end in time. The first slots are `width` microseconds wide. Units
 * that were given before are not used. */
void admission_fill(struct admission *m, double width);

/* Changes what a candidate is given. */
void admission_give(struct admission *m, struct candidate *c, units_t n);

/* Indices of the candidates by a key, then by class, submit and id. */
uint32_t *admission_sort(const struct admission *m, double (*key)(const struct candidate *c));

/* The first time at which an admitted job is planned to have more than it has now;
 * USEC_NEVER = none. */
usec_t admission_wake(const struct admission *m);

#endif
