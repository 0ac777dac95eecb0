/* An engine whose tasks are put where a test of a placer wants them, and a plan
 * that the placer then completes. */
#ifndef SUPPORT_YARD_H
#define SUPPORT_YARD_H

#include "engine/engine.h"

enum { YARD_HOUR = 3600 }; /* seconds */

struct yard {
    struct arena arena, scratch;
    struct engine e;
    struct plan plan;
    struct params params; /* of best-fit, its defaults */
};

/* Nodes that are up: with 32 CPUs and GPUs of the pool, or with CPUs only. */
struct node yard_gpus(units_t gpus, unsigned pool);
struct node yard_cpus(units_t cpus, int64_t memory_mb);

void yard_init(struct yard *y, const struct node *nodes, uint32_t n);
void yard_done(struct yard *y);

/* A job that takes an hour on what it asks for: these units, or its own `req`.
 * The other fields are those of `like`. */
struct job *yard_job(struct yard *y, unsigned pool, units_t units, struct job like);

/* The same as a queued task. */
uint32_t yard_add(struct yard *y, unsigned pool, units_t units, struct job like);

/* Makes the task run in these places; returns it. */
uint32_t yard_run_at(struct yard *y, uint32_t task, const struct placement *at);
/* The same on one node or two. */
uint32_t yard_run(struct yard *y, uint32_t task, uint32_t node, units_t units);
uint32_t yard_run_split(struct yard *y, uint32_t task, uint32_t node, units_t units, uint32_t node2,
                        units_t units2);
/* Freezes a running task in its place. */
void yard_pause(struct yard *y, uint32_t task);

/* A plan in which running tasks keep what they hold; units for others. */
void yard_begin(struct yard *y, usec_t now);
void yard_give(struct yard *y, uint32_t task, units_t units);
/* Lets best-fit place it, and the engine check it. */
void yard_decide(struct yard *y);

/* By the plan: units of the task on the node; whether it stays as it is; the
 * number of its nodes. */
units_t yard_on(const struct yard *y, uint32_t task, uint32_t node);
bool yard_stays(const struct yard *y, uint32_t task);
uint32_t yard_span(const struct yard *y, uint32_t task);
/* Running tasks that leave a place, and how many of their units do. */
uint32_t yard_moves(const struct yard *y, units_t *units);

#endif
