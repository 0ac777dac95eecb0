/* Rules about jobs that more than one file of the server needs. Pure, but for the
 * yard's own functions in server/yard.h. */
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

/* The same, and tells the engine of it. */
void rules_tell_terms(struct yard *y, struct live_job *j);

#endif
