/* The engine: a pure step from (state, event, now) to (state, effects). The live server, the
 * simulator, forecasts and the replay all use it. It keeps the tasks and what they hold,
 * asks the policy when something has changed, checks the plan and returns what has to be
 * done. It reads no clock, draws no random numbers and does no I/O. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "model/plan.h"
#include "policy/combo.h"

enum event_kind {
    EVENT_SUBMIT,  /* job: a new task */
    EVENT_RESTORE, /* job, was: a task of an earlier engine, as it was; no effects */
    EVENT_END,     /* task: it has finished, failed for good or was cancelled */
    EVENT_STOPPED, /* task: its preemption is complete and its units are free */
    EVENT_FAILED,  /* task: it died and will run again from its checkpoint */
    EVENT_HOLD,    /* task: wait until EVENT_RELEASE; not if it is paused and cannot restart */
    EVENT_RELEASE,
    EVENT_SAMPLE,   /* task, sample: its metric and usage */
    EVENT_PROGRESS, /* task, work, done: a better estimate of its progress */
    EVENT_READY,    /* task, at: it makes no progress before this time */
    EVENT_JOB,      /* task, job: its terms have changed (priority, deadline, sizes, ...) */
    EVENT_NODE,     /* node, state: up, draining or down */
    EVENT_CAPACITY, /* node, has: what it has from now on; the next number is a new node */
    EVENT_POLICY,   /* combo: the policy from now on */
    EVENT_MOVE,     /* task, node: it goes there now, with as many of its units as fit */
    EVENT_LOSE,     /* task, node: its workers there are gone; it goes on with the others */
    EVENT_TICK,     /* decide, if a decision is due */
};

struct event {
    enum event_kind kind;
    uint32_t task, node;
    const struct job *job;
    const struct task *was;
    enum node_state state;
    const struct capacity *has; /* its texts stay borrowed */
    double work, done;
    usec_t at;
    const struct sample *sample;
    const struct combo *combo;
};

enum effect_kind {
    EFFECT_START,   /* on task.at, for the first time or again */
    EFFECT_RESIZE,  /* from -> to units, on task.at */
    EFFECT_MOVE,    /* the same size on other nodes */
    EFFECT_PREEMPT, /* checkpoint, stop, back to the queue */
    EFFECT_PAUSE,   /* freeze it where it is */
    EFFECT_RESUME,  /* unfreeze it */
    /* The CPU limit, the weight, or the CPUs that a task on CPUs gets (from -> to
     * thousandths) have changed. After a start the limit and the CPUs are its size, unless
     * this effect follows in the same step. */
    EFFECT_SHARE,
    EFFECT_LIST, /* a policy has moved it from one of its lists to another */
};

struct effect {
    enum effect_kind kind;
    uint32_t task;
    units_t from, to;
    usec_t cost;    /* it makes no progress for this long */
    enum axis axis; /* whose policy has the list */
    uint32_t by;    /* PREEMPT, PAUSE: the task that gets the units; TASK_NONE = none */
};

struct engine_config {
    struct combo combo;
    enum rules rules;
    uint64_t seed;
    usec_t resched_min; /* decisions are at least this far apart */
    usec_t min_run;     /* a task that was preempted runs this long before it is again */
    bool explain;       /* keep the verdicts of decisions */
    bool instant;       /* stops take no time; there is no EVENT_STOPPED */
    /* How much longer a task takes when others keep all of its node busy; 0 = they do not
     * disturb each other. Only a simulation has it: live tasks show their speed themselves. */
    double interference;
};

struct engine {
    struct engine_config config;
    struct cluster cluster;
    struct task *tasks;
    uint32_t tasks_n, tasks_cap;
    struct task_link *links; /* by task; a task that is not in the order links to itself */
    VEC(uint32_t) spare;     /* free task slots */
    VEC(uint32_t) running;
    struct snapshot snapshot;
    struct service finished;
    struct memo *node_memo[AXES];
    struct memo memo[AXES];
    struct verdict *why; /* by task, of the last decision; NULL without explain */

    struct arena arena; /* of one decision */
    struct plan plan;   /* the last one */
    usec_t decided_at, wake_at;
    bool dirty;  /* something has changed since then */
    bool again;  /* the next decision is the second one for the same changes */
    bool costly; /* some job has costs of changes */
    uint64_t decisions;

    /* The result of the last step. */
    VEC(struct effect) effects;
    VEC(uint32_t) touched;  /* tasks whose progress or end has changed */
    VEC(uint32_t) measured; /* tasks that have a new point of growth */
    VEC(uint32_t) stale;    /* nodes whose CPUs have been divided again */
    uint32_t *touched_mark; /* by task: step in which it was touched */
    bool *stale_mark;       /* by node: it is in `stale` */
    uint32_t step;
    uint32_t submitted; /* task of the last EVENT_SUBMIT or EVENT_RESTORE */
};

/* Copies the cluster; names stay borrowed. */
void engine_init(struct engine *e, const struct engine_config *config,
                 const struct cluster *cluster);
void engine_done(struct engine *e);

/* Takes one event. Fails on a job that the empty cluster could not hold (ERR_LIMIT; the job
 * was not taken), on an event that does not fit the task's state (ERR_CONFLICT), and on a
 * plan that breaks an invariant (ERR_INTERNAL, a bug in a policy; nothing of the plan was
 * carried out). */
int engine_step(struct engine *e, const struct event *event, usec_t now, struct err *err);

/* Makes a decision due at this time even if nothing has changed by then. */
void engine_wake(struct engine *e, usec_t at);

/* When EVENT_TICK is due; USEC_NEVER if only another event can change anything. */
usec_t engine_due(const struct engine *e);

/* The state as a policy would see it now. */
const struct snapshot *engine_snapshot(struct engine *e, usec_t now);

#endif
