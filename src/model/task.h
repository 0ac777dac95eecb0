/* A task is a job that is in the system: what it holds, what it has done. The
 * engine owns and changes it; policies read it. */
#ifndef MODEL_TASK_H
#define MODEL_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/history.h"
#include "model/job.h"
#include "model/placement.h"

#define TASK_NONE UINT32_MAX

/* The three choices that make a scheduler. */
enum axis { AXIS_ALLOCATE, AXIS_PLACE, AXIS_SHARE, AXES };

/* What a policy wants to remember of a task, a node or at all: it writes a
 * memo into its plan and finds it in the next snapshot, zeroed at first. What
 * the fields mean is the policy's affair. */
struct memo {
    int64_t i[4];
    double d[4];
};

enum task_phase {
    TASK_QUEUED,   /* holds nothing; may be started */
    TASK_RUNNING,  /* holds n units */
    TASK_PAUSED,   /* frozen: no units, but its memory on its nodes */
    TASK_STOPPING, /* being preempted or cancelled: units until it is gone */
    TASK_HELD,     /* the user wants it to wait */
};

/* What was last said of a task's part of its node's CPUs, by effects. */
struct cpu_told {
    units_t limit;
    double weight;
    units_t share; /* cpu_used, rounded */
};

struct task {
    /* What every decision looks at comes first, in one line of the cache. */
    const struct job *job;
    usec_t submit; /* the next three are the job's, here so that sorting reads no job */
    int32_t priority;
    uint32_t id;
    enum task_phase phase;
    uint8_t pool;        /* that it holds or last held units of */
    bool hold;           /* stopping: the user wants it to wait then */
    bool pinned;         /* it runs, and its job must not be preempted */
    uint32_t running_at; /* index in the snapshot's running list, or TASK_NONE */
    uint32_t pools;      /* bit p is set: pool p is large enough for it */
    units_t n;           /* units held; 0 unless running or stopping */
    /* What it asks for under the policy in force, and its max; or the largest sizes below
     * that the cluster has. */
    units_t asked, most;

    /* Progress, exact at as_of and linear from the later of as_of and
     * ready_at on. */
    usec_t as_of, ready_at;
    double work;     /* one-unit microseconds in all: the job's, or an estimate */
    double done;     /* of it */
    double rate;     /* done per microsecond */
    double attained; /* service: unit-microseconds held */

    usec_t started_at; /* first start; USEC_NEVER before it */
    usec_t queued_at;  /* start of this spell of waiting */
    struct memo memo[AXES];

    usec_t resumed_at; /* start of this spell of running */
    usec_t changed_at; /* last change of size */
    usec_t run_time;   /* in earlier spells */
    usec_t wait_time;  /* in earlier spells */
    double saved;      /* of the work, in the last checkpoint */
    double cpu_time;   /* CPU-unit microseconds used */
    uint32_t starts, preemptions, moves, resizes, failures;
    uint32_t slots_cap;
    struct placement at; /* of its units, or of its memory when it is paused */

    /* Its part of its node's CPUs, set by the sharer. */
    units_t cpu_limit; /* hard bound */
    double cpu_weight; /* against its neighbours */
    double cpu_used;   /* thousandths that this comes to now */
    struct cpu_told told;
    uint8_t list[AXES]; /* that its policies have put it into; 0 = none */

    struct history *history; /* of metric and usage; NULL while nothing was seen */
};

/* Work done by `now`. */
double task_done(const struct task *t, usec_t now);
/* One-unit microseconds left; never negative. */
double task_remaining(const struct task *t, usec_t now);
double task_attained(const struct task *t, usec_t now);
double task_cpu_time(const struct task *t, usec_t now);
/* Time left when it holds n units of the pool, costs aside. */
double task_time_on(const struct task *t, unsigned pool, units_t n, usec_t now);
/* When it ends if nothing changes; USEC_NEVER when it does not progress. */
usec_t task_end(const struct task *t, usec_t now);
/* Brings done, attained and cpu_time up to `now`. */
void task_advance(struct task *t, usec_t now);

/* Time that it has run, or waited, in all its spells. */
usec_t task_run_time(const struct task *t, usec_t now);
usec_t task_wait_time(const struct task *t, usec_t now);

static inline bool task_running(const struct task *t)
{
    return t->phase == TASK_RUNNING;
}

/* Whether units have to move when a running task changes to these n units: more leave
 * their nodes than it gives up. */
bool task_moves(const struct task *t, units_t n, const struct placement *at);
/* For how long a running task stops for that change. */
usec_t task_change_cost(const struct task *t, units_t n, const struct placement *at);

/* Whether the size that it has, or had when it was paused, is one that its job
 * allows. It may not be right after the job's sizes were changed. */
bool task_keeps_size(const struct task *t);

/* The sizes that an allocator may choose from now: a rigid task has one, a running
 * moldable one keeps its own, and a paused one needs units on each node where it is. A
 * pinned task whose smallest size has been raised may stay as it is until there is room. */
units_t task_min(const struct task *t);
units_t task_max(const struct task *t);
/* The next size above n in this pool; 0 = none. */
units_t task_next(const struct task *t, unsigned pool, units_t n);

/* Tasks of a higher class are served first: pinned ones, then by priority. */
static inline int64_t task_class(const struct task *t)
{
    return t->pinned ? (int64_t)INT32_MAX + 1 : t->priority;
}

/* Of task_asked(), the case of a task that has a size, or had one. */
units_t task_kept(const struct task *t);

/* What an allocator that never resizes grants: what it holds, or held when it was
 * paused, else what it asked for. A malleable one that holds more than that, because
 * another policy let it grow, gives it back. */
static inline units_t task_asked(const struct task *t)
{
    return t->phase == TASK_RUNNING || t->phase == TASK_PAUSED ? task_kept(t) : t->asked;
}

/* Whether a sharer decides how many CPUs it gets: it is on the CPUs of one node. Others
 * have what they were granted, and so have the CPUs beside a GPU. */
static inline bool task_shares_cpus(const struct task *t)
{
    return t->pool == POOL_CPU && t->at.n == 1;
}

/* When it first started, or was submitted if it has not started yet. */
static inline usec_t task_since(const struct task *t)
{
    return t->started_at != USEC_NEVER ? t->started_at : t->submit;
}

/* Whether it can be served from one pool only: it is there, or names it. */
static inline bool task_is_bound(const struct task *t)
{
    return t->phase == TASK_RUNNING || t->phase == TASK_PAUSED || t->job->pool != POOL_ANY_GPU;
}

/* The pool of a task that is bound. */
static inline unsigned task_pool(const struct task *t)
{
    return t->phase == TASK_RUNNING || t->phase == TASK_PAUSED ? t->pool : t->job->pool;
}

#endif
