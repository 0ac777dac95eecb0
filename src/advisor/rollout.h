/* A forecast: a copy of an engine that runs on in virtual time, as if nobody came and
 * every job ended when it is expected to. The engine itself is not touched. Pure. */
#ifndef ADVISOR_ROLLOUT_H
#define ADVISOR_ROLLOUT_H

#include "engine/engine.h"

struct rollout;

struct rollout_limits {
    usec_t horizon; /* virtual time */
    uint64_t looks; /* at tasks: what a decision costs grows with their number */
};

struct rollout_end {
    uint32_t task;
    usec_t at;
};

/* What becomes of a task. Times that were not reached are USEC_NEVER. */
struct rollout_result {
    usec_t start;  /* when it runs again; at once for one that does */
    units_t units; /* that it begins with */
    usec_t end;
    usec_t resized; /* when one that runs is first given another number of units */
    units_t resized_to;
    bool cut; /* a limit was reached before */
    struct {
        struct rollout_end *at;
        size_t n, cap;
    } ended; /* tasks that ended on the way, in order */
};

enum rollout_until {
    ROLLOUT_START,  /* the task runs */
    ROLLOUT_RESIZE, /* it runs, and has another size than in the beginning; or has ended */
    ROLLOUT_END,
};

struct rollout *rollout_create(const struct engine *e, usec_t now);
void rollout_free(struct rollout *r);

/* Before it runs, the copy may be changed. */

/* The task has this much work in all; no less than it has done. */
int rollout_set_work(struct rollout *r, uint32_t task, double work, struct err *err);
/* The task has other terms; the job must live as long as the rollout. */
int rollout_set_job(struct rollout *r, uint32_t task, const struct job *job, struct err *err);
/* The task is cancelled. */
int rollout_cancel(struct rollout *r, uint32_t task, struct err *err);

/* Runs until the task is so far, or nothing will happen any more, or a limit is
 * reached. Once for each rollout. Fails when the engine does. */
int rollout_run(struct rollout *r, uint32_t task, enum rollout_until until,
                const struct rollout_limits *limits, struct rollout_result *out, struct err *err);
void rollout_result_done(struct rollout_result *r);

#endif
