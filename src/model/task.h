/* A task is a job in the system: what it holds and what it has done. The engine owns and
 * changes it; policies read it. */
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

/* What a policy remembers about a task, a node or in general: it writes a memo into its plan
 * and finds it in the next snapshot. At first it is zero. Each policy defines what the
 * fields mean. */
struct memo {
    int64_t i[4];
    double d[4];
    float pool[2][POOLS_MAX]; /* by pool */
};

enum task_phase {
    TASK_QUEUED,   /* holds nothing and can be started */
    TASK_RUNNING,  /* holds n units */
    TASK_PAUSED,   /* frozen: holds no units, but its memory on its nodes */
    TASK_STOPPING, /* being preempted: holds its units until it is gone */
    TASK_HELD,     /* waits because the user wants it to */
    TASK_RIDING,   /* runs on the units of another task, and holds none itself */
};

/* What effects last said about a task's part of its node's CPUs. */
struct cpu_told {
    units_t limit;
    double weight;
    units_t share; /* cpu_used, rounded */
};

struct task {
    /* What every decision reads comes first, in one cache line. */
    const struct job *job;
    usec_t submit; /* copied from the job, like the next two, so that sorting reads no job */
    int32_t priority;
    uint32_t id;
    enum task_phase phase;
    uint8_t pool;        /* whose units it holds or last held */
    bool hold;           /* stopping: it is held afterwards */
    bool pinned;         /* it runs, and must not be preempted (now) */
    uint32_t running_at; /* index in the snapshot's running list, or TASK_NONE */
    uint32_t pools;      /* bit p is set: pool p is large enough for it */
    uint32_t mate;       /* the next task on the same units, in a ring; itself if there is none */
    units_t n;           /* units held; 0 unless running or stopping */
    /* What it requests under the policy in force, and its maximum; or the largest sizes below
     * them that the cluster has. */
    units_t asked, most;

    /* Progress: exact at as_of, linear from the later of as_of and ready_at. */
    usec_t as_of, ready_at;
    double work;     /* one-unit microseconds in total: the job's, or an estimate */
    double done;     /* of it */
    double rate;     /* done per microsecond */
    double attained; /* service: unit-microseconds held */

    usec_t started_at; /* first start; USEC_NEVER before it */
    usec_t queued_at;  /* since when it waits */
    struct memo memo[AXES];

    usec_t resumed_at; /* since when it runs */
    usec_t changed_at; /* last change of size */
    usec_t run_time;   /* before that */
    usec_t wait_time;  /* before that */
    double saved;      /* work in the last checkpoint */
    double cpu_time;   /* CPU-unit microseconds that its threads were busy */
    uint32_t starts, preemptions, moves, resizes, failures;
    uint32_t changes; /* starts, and resizes or moves while it ran: both at once are one */
    uint32_t slots_cap;
    struct placement at; /* of its units; of its memory while it is paused */

    /* Its part of its node's CPUs, set by the sharer. */
    units_t cpu_limit; /* the most it may use */
    double cpu_weight; /* relative to its neighbours */
    double cpu_used;   /* thousandths that it gets now */
    double cpu_busy;   /* of them, thousandths that its threads keep busy */
    struct cpu_told told;
    uint8_t list[AXES]; /* of its policies that it is in; 0 = none */

    struct history *history; /* of metric and usage; NULL before the first sample */
};

/* Work done by `now`. */
double task_done(const struct task *t, usec_t now);
/* One-unit microseconds left; never negative. */
double task_remaining(const struct task *t, usec_t now);
double task_attained(const struct task *t, usec_t now);
double task_cpu_time(const struct task *t, usec_t now);
/* Thousandths of a CPU that it was measured to use, in the last seconds of its samples. Until it
 * was measured, those that it gets. */
double task_cpu_measured(const struct task *t);
/* Time left if it holds n units of the pool, without costs. */
double task_time_on(const struct task *t, unsigned pool, units_t n, usec_t now);
/* When it ends if nothing changes; USEC_NEVER if it makes no progress. */
usec_t task_end(const struct task *t, usec_t now);
/* Updates done, attained and cpu_time to `now`. */
void task_advance(struct task *t, usec_t now);

/* For how long it has run, or waited, in total. */
usec_t task_run_time(const struct task *t, usec_t now);
usec_t task_wait_time(const struct task *t, usec_t now);

static inline bool task_running(const struct task *t)
{
    return t->phase == TASK_RUNNING;
}

/* Whether it makes progress, on its own units or on those of another task. */
static inline bool task_trains(const struct task *t)
{
    return t->phase == TASK_RUNNING || t->phase == TASK_RIDING;
}

/* Whether the memory and the devices that it has on its nodes are nobody else's while it has
 * no units there. */
static inline bool task_keeps_memory(const struct task *t)
{
    return t->job->no_restart && (t->phase == TASK_RUNNING || t->phase == TASK_PAUSED);
}

/* Whether it runs or continues on the nodes where it is, or not at all. */
static inline bool task_stays(const struct task *t)
{
    bool fixed = t->job->no_move || t->job->worker;
    return t->pinned || task_keeps_memory(t) || (t->phase == TASK_RUNNING && fixed);
}

/* Whether a running task that changes to these n units has to move some: more units leave
 * their nodes than it gives up. */
bool task_moves(const struct task *t, units_t n, const struct placement *at);
/* For how long a running task stops for that change. */
usec_t task_change_cost(const struct task *t, units_t n, const struct placement *at);

/* Whether it runs and has not yet trained for ten times what a restart or a move costs. If it were
 * stopped over and over before that, it would never get anywhere. */
bool task_is_paying(const struct task *t, usec_t now);

/* Whether its job allows the size that it has, or had when it was paused. Right after the
 * job's sizes were changed it may not. */
bool task_keeps_size(const struct task *t);

/* The sizes that an allocator may choose from: a rigid task has one, a running moldable task
 * keeps its own, and a paused task needs units on each of its nodes. A pinned task whose
 * minimum was raised may stay as it is until there is room. */
units_t task_min(const struct task *t);
units_t task_max(const struct task *t);
/* The next size above n in this pool; 0 = none. */
units_t task_next(const struct task *t, unsigned pool, units_t n);

/* Tasks of a higher class are served first: pinned ones, then by priority. */
static inline int64_t task_class(const struct task *t)
{
    return t->pinned ? (int64_t)INT32_MAX + 1 : t->priority;
}

/* task_asked() of a task that runs or is paused. */
units_t task_kept(const struct task *t);

/* What an allocator that never resizes tasks grants: what the task holds, or held when it
 * was paused, otherwise what it requests. A malleable task that holds more than it requests,
 * because another policy let it grow, gives that back. */
static inline units_t task_asked(const struct task *t)
{
    return t->phase == TASK_RUNNING || t->phase == TASK_PAUSED ? task_kept(t) : t->asked;
}

/* Whether the sharer decides how many CPUs it gets: if it is on the CPUs of one node. Tasks
 * on several nodes and CPUs next to GPUs have what they were granted. */
static inline bool task_shares_cpus(const struct task *t)
{
    return t->pool == POOL_CPU && t->at.n == 1;
}

/* When it first started; when it was submitted if it has not started yet. */
static inline usec_t task_since(const struct task *t)
{
    return t->started_at != USEC_NEVER ? t->started_at : t->submit;
}

/* Whether it can be served from one pool only: it holds units there, or its job names it. */
static inline bool task_is_bound(const struct task *t)
{
    return t->phase == TASK_RUNNING || t->phase == TASK_PAUSED || t->job->pool != POOL_ANY_GPU;
}

/* Whether it may be served from the pool: a task that is paused, pinned or cannot move stays in its
 * own, another running one may be moved. */
static inline bool task_may_use(const struct task *t, unsigned pool)
{
    bool fixed = t->job->no_move || t->job->worker;
    bool stays = t->phase == TASK_PAUSED || t->pinned || (t->phase == TASK_RUNNING && fixed);
    return t->pools >> pool & 1 && (!stays || t->pool == pool);
}

/* The pool of a task that is bound. */
static inline unsigned task_pool(const struct task *t)
{
    return t->phase == TASK_RUNNING || t->phase == TASK_PAUSED ? t->pool : t->job->pool;
}

#endif
