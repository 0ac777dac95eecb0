/* The engine's tables: task slots, the order of active tasks, the running list, and
 * what nodes hold. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "engine/engine.h"

/* A new task in a free slot, queued and at its place in the order. */
uint32_t state_add(struct engine *e, const struct job *job, usec_t now);
/* Frees the slot. The task must hold nothing and be out of the order. */
void state_remove(struct engine *e, uint32_t task);
/* Gives the task another job: the same one with other terms. */
void state_set_job(struct engine *e, uint32_t task, const struct job *job);
/* Puts another policy in force, under which tasks may ask for other sizes. */
void state_set_combo(struct engine *e, const struct combo *combo);
/* Reads all jobs again: the nodes have changed, or what is asked under the policy. */
void state_read_jobs(struct engine *e);
/* Adds a node that has nothing yet. */
void state_add_node(struct engine *e, const char *name);
/* Changes the phase, and what is counted by phase. */
void state_set_phase(struct engine *e, uint32_t task, enum task_phase phase);

/* Into or out of the order of active tasks. */
void state_link(struct engine *e, uint32_t task);
void state_unlink(struct engine *e, uint32_t task);
/* Puts all active tasks into this order. */
void state_reorder(struct engine *e, const uint32_t *order, bool by_submit);

/* Takes units on nodes for the task; its placement becomes a copy. */
void state_occupy(struct engine *e, uint32_t task, unsigned pool, const struct placement *at,
                  units_t n);
/* Frees the units that the task holds, and its memory unless it is only paused. */
void state_vacate(struct engine *e, uint32_t task, bool memory);
/* Into or out of the running list. */
void state_run(struct engine *e, uint32_t task);
void state_rest(struct engine *e, uint32_t task);

/* Pins or unpins a running task, and moves it to its new place in the order. */
void state_pin(struct engine *e, uint32_t task, bool pinned);

/* Marks a task whose progress or end changes in this step. */
void state_touch(struct engine *e, uint32_t task);
/* Marks a node whose CPUs must be divided again in this step. */
void state_stale(struct engine *e, uint32_t node);
/* Adds an effect to this step. */
void state_effect(struct engine *e, enum effect_kind kind, uint32_t task, units_t from, units_t to,
                  usec_t cost);

#endif
