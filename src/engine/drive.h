/* A virtual clock for an engine: time jumps from one instant to the next, and a task
 * ends when its work is done at the rate that the engine assumes. The simulator and
 * forecasts drive their engines with it:
 *
 *   while ((now = drive_next(d)) != USEC_NEVER) {
 *       d->now = now;
 *       while (drive_take_ended(d, &task, &end))
 *           drive_step(d, an EVENT_END of the task);
 *       ... other events of this instant, with drive_step() ...
 *       if (drive_is_due(d))
 *           drive_tick(d);
 *   }
 */
#ifndef ENGINE_DRIVE_H
#define ENGINE_DRIVE_H

#include "base/heap.h"
#include "engine/engine.h"

struct drive {
    struct engine *e; /* borrowed */
    usec_t now;
    struct heap ends;    /* predicted ends, by task */
    bool told;           /* ends are told, not predicted: the caller puts them into `ends` */
    const double *work;  /* by task: what it really takes; NULL = what the engine knows */
    usec_t end_grain;    /* ends are rounded up to a multiple of this; 0 = exact */
    uint32_t idle_ticks; /* ticks in a row that had no effect while nothing ran */
};

/* Predicts the ends of what runs now. */
void drive_init(struct drive *d, struct engine *e, usec_t now);
void drive_done(struct drive *d);

/* Takes an event at d->now and updates predicted ends. Fails as engine_step() does. */
int drive_step(struct drive *d, const struct event *event, struct err *err);
/* Predicts the end of the task again, from what the engine knows now. */
void drive_predict(struct drive *d, uint32_t task);

/* The next end or decision, not before d->now; USEC_NEVER when the engine alone will do
 * nothing any more. */
usec_t drive_next(const struct drive *d);

/* Takes a task whose end is due off the list, in the order of ends, then of numbers.
 * *end is when its work was done. The task ends with the EVENT_END that the caller
 * steps. False when there are no more. */
bool drive_take_ended(struct drive *d, uint32_t *task, usec_t *end);

bool drive_is_due(const struct drive *d);
/* Lets the engine decide. */
int drive_tick(struct drive *d, struct err *err);

#endif
