/* A forecast: future slots of time with the free units of each, and demands that are placed
 * in them before their deadlines. */
#ifndef POLICY_ALLOCATE_FORECAST_H
#define POLICY_ALLOCATE_FORECAST_H

#include "model/plan.h"

enum { FORECAST_SLOTS = 192 };

struct forecast {
    double edge[FORECAST_SLOTS + 1]; /* microseconds from now */
    double free[FORECAST_SLOTS];     /* mean units free in the slot */
    double size;                     /* units in total */
    uint32_t n;
};

/* A task as work that can be done at several sizes. */
struct demand {
    uint32_t task;
    /* Sizes, each faster than the one before. */
    const units_t *size;
    const double *rate; /* work per microsecond */
    uint16_t sizes;
    double work;           /* left */
    double deadline;       /* microseconds from now; INFINITY = none */
    double resize, resume; /* costs of a change of size and of a restart */
    double pause;          /* what is left of the stop of the last change */
    units_t held;          /* units now */
    bool started;
    /* Its plan, if it was placed: size index + 1 for each slot, 0 = none. */
    uint16_t *level;
    uint32_t last; /* the slot in which it ends */
    double tail;   /* time that it uses of that slot */
};

/* Sets everything but the plan, for a task that would run in this pool. */
void demand_init(struct demand *d, const struct snapshot *s, uint32_t task, unsigned pool,
                 struct arena *a);
/* Time until it ends if it has this size from now on. */
double demand_finish(const struct demand *d, unsigned level);
/* The largest size of at most n units; -1 = none. */
int demand_level(const struct demand *d, units_t n);

/* Makes slots of `width`, wider with their distance, up to the time `until`. */
void forecast_init(struct forecast *f, units_t size, double width, double until);
void forecast_clear(struct forecast *f);

/* Finds the smallest size from `level` on with which the demand ends before its deadline in
 * what is free, and writes its plan; false if there is none. */
bool forecast_place(const struct forecast *f, struct demand *d, unsigned level);

/* Books the units of a demand that was placed (sign 1), or frees them (-1). */
void forecast_book(struct forecast *f, const struct demand *d, double sign);

#endif
