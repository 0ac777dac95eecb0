/* What earlier jobs of a group (a model, in most traces) have shown: how much work they took, and
 * on how many units of each GPU type they have trained. */
#ifndef SIM_GROUPS_H
#define SIM_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/job.h"

struct group_known;

struct groups {
    struct group_known *at; /* the first entry is all jobs */
    uint32_t n, cap;
};

void groups_init(struct groups *g);
void groups_done(struct groups *g);

/* A job of the group has ended; `work` is what it took. The name may be NULL, and is borrowed. */
void groups_end(struct groups *g, const char *name, double work);

/* A job of the group has done so much work and goes on. */
void groups_go_on(struct groups *g, const char *name, double done);

/* Whether a job of the group has ended. */
bool groups_is_known(const struct groups *g, const char *name);

/* The work that another one is expected to take: the geometric mean of those of the group that have
 * ended. If none has, the mean of all jobs, or `otherwise`; but at least twice what one of the
 * group has done so far: where nothing else is known, a job is expected to go on for as long as it
 * has. */
double groups_expect(const struct groups *g, const char *name, double otherwise);

/* A job of the group has trained on so many units of a type, which is numbered from 0. */
void groups_train(struct groups *g, const char *name, uint32_t type, uint32_t units);
/* The most units on which one has; 0 = none has. */
uint32_t groups_most(const struct groups *g, const char *name, uint32_t type);

#endif
