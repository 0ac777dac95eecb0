/* A forecast: future slots of time with the units free in each, and demands
 * that are fitted into them before their deadlines. */
#ifndef POLICY_ALLOCATE_FORECAST_H
#define POLICY_ALLOCATE_FORECAST_H

#include "model/plan.h"

enum { FORECAST_SLOTS = 192 };

struct forecast {
    double edge[FORECAST_SLOTS + 1]; /* microseconds from now */
    double free[FORECAST_SLOTS];     /* mean units free in the slot */
    double size;                     /* units in all */
    uint32_t n;
};

/* A task as work that can be done at several sizes. */
struct demand {
    uint32_t task;
    /* Sizes that are each faster than the one before. */
    const units_t *size;
    const double *rate; /* work per microsecond */
    uint16_t sizes;
    double work;           /* left */
    double deadline;       /* microseconds from now; INFINITY = none */
    double resize, resume; /* what a change of size, and a start again, cost */
    double pause;          /* of the last change, still to come */
    units_t held;          /* units now */
    bool started;
    /* The plan, when it was placed: size index + 1 for each slot, 0 = none. */
    uint16_t *level;
    uint32_t last; /* the slot in which it ends */
    double tail;   /* time used of that slot */
};

/* Fills in everything but the plan for a task that would run in this pool. */
void demand_init(struct demand *d, const struct snapshot *s, uint32_t task, unsigned pool,
                 struct arena *a);
/* What choosing the size costs now. */
double demand_stop(const struct demand *d, unsigned level);
/* Time until it ends when it has this size from now on. */
double demand_finish(const struct demand *d, unsigned level);
/* The largest size of at most n units; -1 = none. */
int demand_level(const struct demand *d, units_t n);

/* Slots of `width`, growing with their distance, up to the time `until`. */
void forecast_init(struct forecast *f, units_t size, double width, double until);
void forecast_clear(struct forecast *f);

/* Finds the smallest size from `level` on with which the demand ends by its
 * deadline in what is free, and writes its plan; false when there is none. */
bool forecast_place(const struct forecast *f, struct demand *d, unsigned level);

/* Takes a placed demand's units (sign 1), or gives them back (-1). */
void forecast_book(struct forecast *f, const struct demand *d, double sign);

#endif
