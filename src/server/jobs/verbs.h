/* Actions of users on jobs. */
#ifndef SERVER_JOBS_VERBS_H
#define SERVER_JOBS_VERBS_H

#include "server/yard.h"

/* Each fails with ERR_NOT_FOUND, or with ERR_CONFLICT if the job's state does not allow it; the
 * text says what to do instead. */
int verb_cancel(struct yard *y, int64_t id, usec_t grace, struct err *err); /* -1 = its own */
int verb_hold(struct yard *y, int64_t id, struct err *err);
int verb_release(struct yard *y, int64_t id, struct err *err);
/* Requeues a running job, which is stopped first, or one that has ended. It starts as a new
 * attempt. A job that has ended and had its submitter's environment needs one again:
 * `environment`, or NULL. */
int verb_requeue(struct yard *y, int64_t id, bool hold, struct spec_list *environment,
                 struct err *err);
/* Sets the range of CPUs, within the submitted one; min 0 = as submitted. */
/* Moves a running job that has a checkpoint to this node; NULL = to any other. */
int verb_migrate(struct yard *y, int64_t id, const char *node, struct err *err);
int verb_resize(struct yard *y, int64_t id, units_t min, units_t max, struct err *err);

struct job_change {
    bool set_priority, set_deadline, set_time_limit;
    int32_t priority;
    usec_t deadline;   /* wall clock; 0 = none */
    usec_t time_limit; /* 0 = none */
};
int verb_change(struct yard *y, int64_t id, const struct job_change *change, struct err *err);

#endif
