/* The terms of a live job, from its request. Pure. */
#ifndef SERVER_JOBS_TERMS_H
#define SERVER_JOBS_TERMS_H

#include "model/cluster.h"
#include "model/job.h"
#include "model/speed_fit.h"
#include "store/jobs.h"
#include "wire/spec.h"

struct terms {
    units_t cpus_min, cpus_max;   /* as submitted, or as set by a user since */
    units_t asked_min, asked_max; /* as submitted */
    units_t gpus_min, gpus_max;
    uint8_t pool;         /* POOL_CPU, a pool of GPUs, POOL_ANY_GPU */
    bool container;       /* it runs in one, from an image */
    bool gang;            /* it runs on workers_min to workers_max nodes at once */
    const char *gpu_type; /* borrowed from the request; NULL = any */
    int64_t memory_mb;
    enum spec_resize resize;
    enum spec_preempt preempt;
    bool resumes;      /* it declared a checkpoint, or asks whether to save one */
    usec_t time_limit; /* 0 = none */
    int signal;
    usec_t signal_before;
    int checkpoint_signal;
    usec_t grace;
    usec_t lease; /* 0 = the server's, USEC_NEVER = none */
    double weight, target;
    uint32_t retries;
    usec_t backoff;
    bool requeue;
    uint32_t workers_min, workers_max;
    usec_t move_cost;     /* pause at a move to another node */
    usec_t resize_cost;   /* pause at a change of size; 0 = none */
    uint32_t array_limit; /* jobs of its array that may be active at once; 0 = all */
};

/* What a job is to the nodes that run it (server/nodes.c). */
enum { DEVICE_PROCESS, DEVICE_CONTAINER };

/* Assumed total work of a job that does not report its steps: one hour on one unit, and at
 * least twice what it has done. */
#define TERMS_WORK_UNKNOWN (3600.0 * USEC_PER_SEC)

/* The terms of a request; they borrow its texts. The pool of a GPU job is POOL_ANY_GPU at
 * first. Fails with ERR_INVALID if the units cannot be divided equally among the workers. */
int terms_from_spec(const struct spec *s, struct terms *out, struct err *err);

/* Completes the terms of a job that has a deadline and names no size: from one CPU to all of the
 * largest node, of which `room` has the size. Others stay as they are. */
void terms_open(struct terms *t, units_t room);

/* Copies the terms that can change from the row. */
void terms_follow_row(struct terms *t, const struct job_row *row);
/* Copies the terms that can change to the row. */
void terms_to_row(const struct terms *t, struct job_row *row);

/* Assumed cost of a restart for a new size, until it is measured. */
#define TERMS_RESIZE_COST (10 * USEC_PER_SEC)
/* The same for a move to another node. */
#define TERMS_MOVE_COST (10 * USEC_PER_SEC)

/* Workers of an elastic launcher on this many units; 1 for other jobs. */
uint32_t terms_workers(const struct terms *t, units_t units);

/* Makes the engine's job. Times are engine time; deadline USEC_NEVER = none. `room` is the
 * size of the largest node. Uses the measured curve if it has at least two sizes; otherwise
 * speed grows with size. Borrows the name; the curve is in the arena, which must live as
 * long. */
int terms_to_job(const struct terms *t, uint32_t id, const char *name, int32_t priority,
                 usec_t submit, usec_t deadline, units_t room, const struct speed_fit *measured,
                 struct arena *arena, struct job *out, struct err *err);

#endif
