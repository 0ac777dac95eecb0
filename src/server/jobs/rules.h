/* Rules about jobs that more than one file of the server needs: what a dependency comes
 * to, and how a job's terms come into force. */
#ifndef SERVER_JOBS_RULES_H
#define SERVER_JOBS_RULES_H

#include "server/yard.h"
#include "store/job_state.h"

enum dep_state { DEP_WAITS, DEP_MET, DEP_NEVER };

/* What a dependency comes to when the job that it names is in this state. */
enum dep_state rules_dep(enum spec_dep_kind kind, enum job_state state, bool started);

/* Makes the engine's job of the terms, in the half of j->job that is not in force, and
 * puts it in force. Fails, with nothing changed, when no engine could run it. */
int rules_make_job(const struct yard *y, struct live_job *j, struct err *err);
/* Whether some node could hold the job if it were empty. Fails (ERR_LIMIT) with what is
 * missing. */
int rules_can_hold(const struct yard *y, const struct live_job *j, struct err *err);

/* The same, and tells the engine of it. */
void rules_tell_terms(struct yard *y, struct live_job *j);

/* Puts changed terms in force and tells the engine. The old ones stay when it fails. */
int rules_apply_terms(struct yard *y, struct live_job *j, const struct terms *terms,
                      int32_t priority, usec_t deadline, struct err *err);

/* The wall clock was set: deadlines, which are by that clock, move. */
void rules_follow_clock(struct yard *y);

#endif
