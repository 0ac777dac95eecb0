/* A forecast: a copy of an engine that runs on in virtual time, as if no job were
 * submitted and every job ended when it is expected to. The engine itself does not
 * change. Pure. */
#ifndef ADVISOR_ROLLOUT_H
#define ADVISOR_ROLLOUT_H

#include "engine/engine.h"

struct rollout;

struct rollout_limits {
    usec_t horizon; /* virtual time */
    uint64_t looks; /* instants, and tasks that decisions look at: what it may cost */
};

struct rollout_end {
    uint32_t task;
    usec_t at;
};

/* What becomes of a task. Times that were not reached are USEC_NEVER. */
struct rollout_result {
    usec_t start;  /* when it starts or resumes; now if it is running */
    units_t units; /* that it starts with */
    usec_t end;
    usec_t resized; /* when a running task first gets another number of units */
    units_t resized_to;
    bool cut; /* a limit was reached first */
    struct {
        struct rollout_end *at;
        size_t n, cap;
    } ended; /* tasks that ended meanwhile, in order */
};

enum rollout_until {
    ROLLOUT_START,  /* the task runs */
    ROLLOUT_RESIZE, /* it runs with another size than at the beginning, or has ended */
    ROLLOUT_END,
};

struct rollout *rollout_create(const struct engine *e, usec_t now);
void rollout_free(struct rollout *r);

/* Changes of the copy before it runs. */

/* The task has this much work in all, and at least what it has done. */
int rollout_set_work(struct rollout *r, uint32_t task, double work, struct err *err);
/* The task has other terms. The job must outlive the rollout. */
int rollout_set_job(struct rollout *r, uint32_t task, const struct job *job, struct err *err);
/* Another task, submitted now. The job must outlive the rollout. */
int rollout_add_job(struct rollout *r, const struct job *job, uint32_t *task, struct err *err);
/* The task is cancelled. */
int rollout_cancel(struct rollout *r, uint32_t task, struct err *err);

/* Runs until the task is that far, nothing more will happen, or a limit is reached.
 * May be called once for each rollout. Fails when the engine does. */
int rollout_run(struct rollout *r, uint32_t task, enum rollout_until until,
                const struct rollout_limits *limits, struct rollout_result *out, struct err *err);
void rollout_result_done(struct rollout_result *r);

/* ---- all tasks, bit by bit ---- */

/* What has become of all tasks so far. */
struct rollout_course {
    usec_t *end; /* by task; USEC_NEVER = it has not ended */
    uint32_t tasks;
    uint32_t ended, preemptions, moves, resizes;
    uint64_t looks; /* as in struct rollout_limits */
};

/* The policy from now on. */
int rollout_set_policy(struct rollout *r, const struct combo *combo, struct err *err);
/* Begins a course; rollout_course_done() frees it. */
int rollout_begin(struct rollout *r, struct rollout_course *out, struct err *err);
/* Goes on to the next instant at which something happens. Returns 1, 0 when nothing will happen
 * up to `last`, or -1 when the engine fails. */
int rollout_advance(struct rollout *r, usec_t last, struct rollout_course *c, struct err *err);
/* The virtual time that it has reached. */
usec_t rollout_now(const struct rollout *r);
/* The work that is left of a task at a later time, if nothing else changes; 0 if it has ended. */
double rollout_left(const struct rollout *r, uint32_t task, usec_t at);
void rollout_course_done(struct rollout_course *c);

#endif
