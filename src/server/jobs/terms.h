/* The terms of a job that matter while it is live, taken from its request. Pure. */
#ifndef SERVER_JOBS_TERMS_H
#define SERVER_JOBS_TERMS_H

#include "model/cluster.h"
#include "model/job.h"
#include "model/speed_fit.h"
#include "store/jobs.h"
#include "wire/spec.h"

struct terms {
    units_t cpus_min, cpus_max;   /* in force: as submitted, or as a user resized it since */
    units_t asked_min, asked_max; /* as submitted */
    units_t gpus_min, gpus_max;
    uint8_t pool;         /* POOL_CPU, a pool of GPUs, POOL_ANY_GPU */
    const char *gpu_type; /* that it insists on, of the request; NULL = any */
    int64_t memory_mb;
    enum spec_resize resize;
    enum spec_preempt preempt;
    usec_t time_limit; /* 0 = none */
    int signal;
    usec_t signal_before;
    int checkpoint_signal;
    usec_t grace;
    double weight, target, total;
    uint32_t retries;
    usec_t backoff;
    bool requeue;
    uint32_t workers_min, workers_max;
    usec_t resize_cost;   /* it stands still for this long at a change of size; 0 = it does not */
    uint32_t array_limit; /* of its array that may run at once; 0 = all */
};

/* Work that is assumed of a job that does not say how much it has: one hour on one
 * unit, and at least as much again as it has done. */
#define TERMS_WORK_UNKNOWN (3600.0 * USEC_PER_SEC)

/* The terms of a request, whose texts they borrow. The pool of a job on GPUs is POOL_ANY_GPU
 * at first. Fails (ERR_INVALID) on workers that cannot be of one size. */
int terms_from_spec(const struct spec *s, struct terms *out, struct err *err);

/* Sets the terms that can change to those in force, which the row has. */
void terms_follow_row(struct terms *t, const struct job_row *row);
/* Writes the terms that a row has columns for. */
void terms_to_row(const struct terms *t, struct job_row *row);

/* Assumed of a job that starts again to change its size, until it was measured. */
#define TERMS_RESIZE_COST (10 * USEC_PER_SEC)

/* Workers of an elastic launcher that so many units serve; 1 for other jobs. */
uint32_t terms_workers(const struct terms *t, units_t units);

/* What the engine is told. Times are engine time; deadline USEC_NEVER = none. `room` is the
 * most that a node has. A curve that
 * was measured on two sizes or more counts; otherwise speed is taken to grow with size.
 * The name is borrowed; the arena, which must live as long, has the curve. */
int terms_to_job(const struct terms *t, uint32_t id, const char *name, int32_t priority,
                 usec_t submit, usec_t deadline, units_t room, const struct speed_fit *measured,
                 struct arena *arena, struct job *out, struct err *err);

#endif
