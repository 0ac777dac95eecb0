/* The engine: a pure step from (state, event, now) to (state, effects). The
 * live server, the simulator and a replay all drive this one. It keeps the
 * tasks and what they hold, asks the policy when something changed, checks the
 * plan and says what has to be done. It reads no clock, draws no random number
 * and does no I/O. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "model/plan.h"
#include "policy/combo.h"

enum event_kind {
    EVENT_SUBMIT,  /* job: a new task */
    EVENT_RESTORE, /* job, was: a task as it was in an earlier engine; has no effects */
    EVENT_END,     /* task: it has finished, failed for good or was cancelled */
    EVENT_STOPPED, /* task: a preemption is complete, its units are free */
    EVENT_FAILED,  /* task: it died and shall run again from its checkpoint */
    EVENT_HOLD,    /* task: wait until EVENT_RELEASE */
    EVENT_RELEASE,
    EVENT_SAMPLE,   /* task, sample: its metric and usage */
    EVENT_PROGRESS, /* task, work, done: a better estimate of its progress */
    EVENT_READY,    /* task, at: it makes no progress before this time */
    EVENT_JOB,      /* task, job: its terms have changed (priority, deadline, sizes, ...) */
    EVENT_NODE,     /* node, state: up, draining or down */
    EVENT_POLICY,   /* combo: another policy from now on */
    EVENT_TICK,     /* decide, if it is time to */
};

struct event {
    enum event_kind kind;
    uint32_t task, node;
    const struct job *job;
    const struct task *was;
    enum node_state state;
    double work, done;
    usec_t at;
    const struct sample *sample;
    const struct combo *combo;
};

enum effect_kind {
    EFFECT_START,   /* on `task.at`, for the first time or again */
    EFFECT_RESIZE,  /* from -> to units, on `task.at` */
    EFFECT_MOVE,    /* the same size elsewhere */
    EFFECT_PREEMPT, /* checkpoint, stop, back into the queue */
    EFFECT_PAUSE,   /* freeze in place */
    EFFECT_RESUME,  /* thaw */
    /* Of a task on CPUs: its limit, its weight or the CPUs that it gets have changed, from
     * -> to thousandths. A start means that limit and CPUs are its size; what differs from
     * that is said at once. */
    EFFECT_SHARE,
    EFFECT_LIST, /* a policy has put it from one of its lists into another */
};

struct effect {
    enum effect_kind kind;
    uint32_t task;
    units_t from, to;
    usec_t cost;    /* it makes no progress for this long */
    enum axis axis; /* of a list */
};

struct engine_config {
    struct combo combo;
    enum rules rules;
    uint64_t seed;
    usec_t resched_min; /* decisions are at least this far apart */
    bool explain;       /* keep verdicts */
    bool instant;       /* stops take no time: EVENT_STOPPED is implied */
};

struct engine {
    struct engine_config config;
    struct cluster cluster;
    struct task *tasks;
    uint32_t tasks_n, tasks_cap;
    struct task_link *links; /* by task; one that is not in the order is its own neighbour */
    VEC(uint32_t) spare;     /* task slots that can be used again */
    VEC(uint32_t) running;
    struct snapshot snapshot;
    struct service finished;
    struct memo *node_memo[AXES];
    struct memo memo[AXES];
    struct verdict *why; /* by task, of the last decision; NULL without explain */

    struct arena arena; /* of one decision */
    struct plan plan;   /* the last one */
    usec_t decided_at, wake_at;
    bool dirty;  /* something changed since */
    bool again;  /* the next decision is a second look at the last one */
    bool costly; /* some job pays for changes */
    uint64_t decisions;

    /* The outcome of the last step. */
    VEC(struct effect) effects;
    VEC(uint32_t) touched;  /* tasks whose progress or end has changed */
    VEC(uint32_t) stale;    /* nodes whose CPUs have been divided again */
    uint32_t *touched_mark; /* by task: step in which it was touched */
    bool *stale_mark;       /* by node: it is in `stale` */
    uint32_t step;
    uint32_t submitted; /* task of the last EVENT_SUBMIT or EVENT_RESTORE */
};

/* The cluster is copied; its names stay borrowed. */
void engine_init(struct engine *e, const struct engine_config *config,
                 const struct cluster *cluster);
void engine_done(struct engine *e);

/* Takes one event. Fails on a job that no empty cluster could hold (ERR_LIMIT:
 * it was not taken), on an event that does not fit the task's state
 * (ERR_CONFLICT), and on a plan that breaks an invariant (ERR_INTERNAL: a bug
 * in a policy; nothing of the plan was carried out). */
int engine_step(struct engine *e, const struct event *event, usec_t now, struct err *err);

/* When EVENT_TICK is wanted; USEC_NEVER when only another event can help. */
usec_t engine_due(const struct engine *e);

/* The state as a policy would see it now. */
const struct snapshot *engine_snapshot(struct engine *e, usec_t now);

#endif
