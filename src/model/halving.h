/* Successive halving: which members of a group go on, by their values at the same steps. */
#ifndef MODEL_HALVING_H
#define MODEL_HALVING_H

#include <stdbool.h>
#include <stdint.h>

/* Members are compared after `every` steps, and then whenever the steps have doubled: at the
 * rungs every, 2 every, 4 every... */
enum { HALVING_RUNGS = 40 };

/* The rungs that a member at this step has passed. */
uint32_t halving_passed(int64_t every, double step);
/* The step of rung number k, from 0. */
int64_t halving_step(int64_t every, uint32_t k);

/* How many go on from a rung that this many members have reached or still can; at least `keep`. */
uint32_t halving_quota(uint32_t members, uint32_t keep);

struct halving_member {
    int64_t job;
    double value; /* at the rung; NAN = worst */
};

/* Orders the members from best to worst; equal ones by id. The first halving_quota() go on. */
void halving_rank(struct halving_member *members, uint32_t n, bool rises);

#endif
