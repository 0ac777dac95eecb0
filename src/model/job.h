/* A job as it was requested. It does not change; other terms are another struct job. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "model/devices.h"
#include "model/learning.h"
#include "model/loss.h"
#include "model/sharing.h"
#include "model/speed.h"

enum job_kind {
    JOB_RIGID,     /* runs on req units only */
    JOB_MOLDABLE,  /* any size when it starts, fixed until it is preempted */
    JOB_MALLEABLE, /* any size at any time */
};

/* Units of different pools are not exchangeable: pool 0 is CPUs, pool 1 + t is
 * GPUs of type t. A job is served from one pool at a time. */
enum { POOL_CPU = 0, POOL_GPU = 1, POOLS_MAX = 17, POOL_ANY_GPU = POOLS_MAX };

/* What changing a job costs: for how long it stops while it holds units. */
struct job_cost {
    usec_t restart;    /* start again after a preemption or a failure */
    usec_t resize;     /* change of size */
    usec_t move;       /* move to another node */
    usec_t checkpoint; /* interval between checkpoints; 0 = it never loses anything */
    usec_t decision;   /* every decision, while it runs; only under the rules of Muri's simulator */
};

struct job {
    uint32_t id;
    int32_t priority; /* higher ones are served first by every policy */
    const char *name;
    const char *group; /* model, user or virtual cluster, for reports; may be NULL */
    usec_t submit;
    enum job_kind kind;
    uint8_t pool;     /* POOL_CPU, POOL_GPU + type, or POOL_ANY_GPU */
    bool whole;       /* must fit on one node */
    bool apart;       /* not whole: each of its workers is on a node of its own */
    bool can_pause;   /* it is frozen in place instead of preempted by a restart */
    bool no_restart;  /* with can_pause: it would lose its work, so it keeps its memory */
    bool no_move;     /* it has no checkpoint: policies do not move it */
    bool no_preempt;  /* once it runs, it is neither preempted nor moved */
    units_t req;      /* requested; where CPUs are shared by weight, min is */
    units_t min, max; /* sizes that it can run on */
    /* Not whole: it consists of workers of this size. A node has whole ones, the first node that
     * it is on stays until it stops, and policies do not move it. 0 = its units go anywhere. */
    units_t worker;
    uint32_t nodes;         /* with workers: the most nodes that it can be on; 0 = any number */
    units_t cpus;           /* CPUs that go with each GPU; 0 for a CPU job */
    int64_t memory_mb;      /* on each node that it uses */
    struct devices devices; /* the same */
    double weight;          /* in policies that weigh jobs; 1 = normal */
    usec_t deadline;        /* absolute; USEC_NEVER = none */
    double work;            /* microseconds on one unit of the reference type */
    double step;            /* of it, what one training step takes; 0 = not known */
    struct job_cost cost;
    struct loss loss; /* over the share of work done */
    double target;    /* target value of the metric; NAN = none */
    /* Speed by pool; one entry is for all pools. */
    const struct speed *speeds;
    uint8_t nspeeds;
    /* How its goodput changes while it learns; NULL = its speeds stay the same. */
    const struct learning *learning;
    /* How fast it is on units that it shares with other jobs; NULL = not known. */
    const struct sharing *sharing;
};

/* The curve of this job in this pool. */
const struct speed *job_speed(const struct job *j, unsigned pool);

/* Whether x is a possible amount of work or service, in one-unit microseconds. */
static inline bool work_is_valid(double x)
{
    return x >= 0 && x <= 1e18;
}

/* Whether the job may be served from this pool. A GPU type for which it has no rates is not
 * offered. */
static inline bool job_takes_pool(const struct job *j, unsigned pool)
{
    if (j->pool != POOL_ANY_GPU)
        return j->pool == pool;
    return pool >= POOL_GPU && speed_runs(job_speed(j, pool));
}

/* The CPUs that go with n units of the pool: the units themselves, or the CPUs that the job
 * needs for each GPU. */
static inline units_t job_cpus(const struct job *j, unsigned pool, units_t n)
{
    return pool == POOL_CPU ? n : n / UNIT * j->cpus;
}

/* Whether the job can run on units that it shares with others: its speed there is known, it needs
 * nothing else of a node, and it may be stopped at any time. */
static inline bool job_can_share(const struct job *j)
{
    return j->sharing && !j->memory_mb && !j->cpus && !devices_any(&j->devices) && !j->no_preempt &&
           !j->can_pause && !j->worker;
}

/* What the job can use of `room` free units on a node. */
static inline units_t job_whole_workers(const struct job *j, units_t room)
{
    if (!j->worker || room <= 0)
        return room;
    return room < j->worker ? 0 : j->apart ? j->worker : room - room % j->worker;
}

/* For how long the job stops when it starts again with another size. */
static inline usec_t job_resume_cost(const struct job *j)
{
    return j->cost.restart > j->cost.resize ? j->cost.restart : j->cost.resize;
}

/* A copy in the arena with its name and its curves. `learning` and `sharing` stay borrowed; live
 * jobs have neither. */
struct job *job_copy(const struct job *j, struct arena *a);

/* Fills in what may be left out (min, max, weight, deadline, kind, one linear curve) and
 * checks the rest. The error names the field. */
int job_normalise(struct job *j, struct err *err);

#endif
