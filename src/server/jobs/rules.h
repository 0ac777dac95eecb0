/* Rules about jobs that several files need: when a dependency is met, and how a job's terms
 * are applied. */
#ifndef SERVER_JOBS_RULES_H
#define SERVER_JOBS_RULES_H

#include "base/str.h"
#include "server/yard.h"
#include "store/job_state.h"

enum dep_state { DEP_WAITS, DEP_MET, DEP_NEVER };

/* The state of a dependency on a job in this state. */
enum dep_state rules_dep(enum spec_dep_kind kind, enum job_state state, bool started);

/* Appends that a dependency on a job in this state can never be met. */
void rules_say_never(enum spec_dep_kind kind, int64_t on, enum job_state state, struct str *out);

/* Makes the engine's job from the terms, in the unused half of j->job, and switches to it.
 * Fails, and changes nothing, if the terms are invalid. */
int rules_make_job(const struct yard *y, struct live_job *j, struct err *err);
/* Whether a node could hold the job if it were empty. Fails with ERR_LIMIT and what is
 * missing. */
int rules_can_hold(const struct yard *y, const struct live_job *j, struct err *err);

/* Makes the engine's job from the terms, and passes it to the engine. */
void rules_tell_terms(struct yard *y, struct live_job *j);

/* Applies changed terms and passes them to the engine. Keeps the old ones on failure. */
int rules_apply_terms(struct yard *y, struct live_job *j, const struct terms *terms,
                      int32_t priority, usec_t deadline, struct err *err);

/* The wall clock was set: updates the engine's deadlines, which are times of that clock. */
void rules_follow_clock(struct yard *y);

#endif
