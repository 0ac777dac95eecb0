/* Between the files of the engine. */
#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H

#include "engine/engine.h"

/* event.c: whether the event can be, as things are. */
int event_check(const struct engine *e, const struct event *v, struct err *err);
/* Changes the state as it says. Of a tick, nothing. */
int event_take(struct engine *e, const struct event *v, usec_t now, struct err *err);

/* restore.c: puts a task back as it was. ERR_INVALID when it was on nodes that are
 * not there, or held nothing where it must; ERR_CONFLICT when a node has no room for
 * it any more. */
int restore_task(struct engine *e, const struct job *job, const struct task *was, usec_t now,
                 struct err *err);

/* Whether it can be an amount of work or service; job_normalise() has the same bound. */
static inline bool engine_is_amount(double x)
{
    return x >= 0 && x <= 1e18;
}

/* state.c: tasks and what they hold. */
uint32_t state_add(struct engine *e, const struct job *job, usec_t now);
void state_remove(struct engine *e, uint32_t task);
/* Gives the task another job: the same with other terms. */
void state_set_job(struct engine *e, uint32_t task, const struct job *job);
/* Changes the phase, and what is counted by it. */
void state_set_phase(struct engine *e, uint32_t task, enum task_phase phase);
/* Into or out of the order of active tasks. */
void state_link(struct engine *e, uint32_t task);
void state_unlink(struct engine *e, uint32_t task);
void state_reorder(struct engine *e, const uint32_t *order, bool by_submit);
/* Takes units on nodes for the task; its placement becomes a copy. */
void state_occupy(struct engine *e, uint32_t task, unsigned pool, const struct placement *at,
                  units_t n);
/* Frees what the task holds; `memory` too unless it is only paused. */
void state_vacate(struct engine *e, uint32_t task, bool memory);
/* Into or out of the running list. */
void state_run(struct engine *e, uint32_t task);
void state_rest(struct engine *e, uint32_t task);
void state_touch(struct engine *e, uint32_t task);
/* The node's CPUs must be divided anew. */
void state_stale(struct engine *e, uint32_t node);
/* Divides the CPUs of stale nodes and sets the rates of all touched tasks. */
void state_refresh(struct engine *e, usec_t now);
void state_effect(struct engine *e, enum effect_kind kind, uint32_t task, units_t from, units_t to,
                  usec_t cost);

/* settle.c: takes back changes that cost more than they bring. */
void settle_plan(const struct engine *e, struct plan *plan);

/* check.c: every invariant of a plan; ERR_INTERNAL names the broken one. */
int check_plan(const struct engine *e, const struct plan *plan, struct err *err);

/* yield.c: who makes room, and who must wait for it. */
/* By task: it is paused, or would be, and must leave its memory to the plan. NULL
 * when none must. */
const bool *yield_memory(struct engine *e, const struct plan *plan);
/* By grant: what it needs is free only once others have stopped. NULL when none
 * waits. */
const bool *yield_wait(struct engine *e, const struct plan *plan, const bool *yields);

/* apply.c: carries a checked plan out. */
void apply_plan(struct engine *e, const struct plan *plan, usec_t now);
/* A paused task leaves its memory and goes back into the queue. */
void apply_evict(struct engine *e, uint32_t task);

#endif
