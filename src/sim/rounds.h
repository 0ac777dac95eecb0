/* The event rules of the simulators of Pollux (OSDI'21) and Sia (SOSP'23), to compare with them;
 * see docs/peers.md.
 *
 * Everything happens in rounds. At the end of a round jobs have trained for its length, those
 * that are done leave, arrivals are noticed, and the policy decides. A job whose placement
 * changes, also by its first start, stands still for what its restarts cost. Its progress is that
 * of its goodput where it is placed, and epochs end at whole seconds. */
#ifndef SIM_ROUNDS_H
#define SIM_ROUNDS_H

#include "engine/drive.h"
#include "sim/groups.h"

struct rounds_options {
    usec_t length;       /* of a round */
    bool shapes_only;    /* a move to as many units on as many nodes of the same type is free */
    double interference; /* share of its speed that a job on several nodes loses while another
                          * such job is on one of them */
    /* What the policy knows: all sizes and curves as they are, or as they would be learned. A
     * job is then offered one unit at first, and at most twice what it has trained on; its size is
     * that of earlier jobs of its group, else of all, else an hour; and beyond the sizes on which a
     * job of its group has trained, its curve is a guess. */
    bool learned;
    /* The logarithm of a job's size is off by a normal error with this standard deviation. */
    double size_error;
    uint64_t seed; /* of these errors */
};

struct round_job; /* how far a job is */

struct rounds {
    struct rounds_options o;
    struct round_job *jobs; /* by job id */
    uint32_t n;
    usec_t last;          /* end of the last round */
    struct groups groups; /* what earlier jobs have shown */
    bool ended;           /* a job in this round */
};

/* Jobs have the ids 0..n-1. */
void rounds_init(struct rounds *r, const struct rounds_options *o, uint32_t n);
void rounds_done(struct rounds *r);

/* The end of the next round: of the first one after `arrival` if no task is active. */
usec_t rounds_next(const struct rounds *r, const struct engine *e, usec_t arrival);

/* Tells the engine what is known about a task that was just submitted. */
int rounds_submit(struct rounds *r, struct drive *d, uint32_t task, struct err *err);

/* Trains all running tasks up to d->now, and puts those that are done on the list of ends. */
int rounds_train(struct rounds *r, struct drive *d, struct err *err);

/* After a decision: notes which placements it has changed. */
void rounds_follow(struct rounds *r, const struct engine *e);

#endif
