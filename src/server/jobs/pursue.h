/* Brings the real attempt to what is wanted of it: started, of the right size, frozen,
 * stopped, cleaned up. Everything here runs once what is wanted is on disk, and may be done
 * twice. */
#ifndef SERVER_JOBS_PURSUE_H
#define SERVER_JOBS_PURSUE_H

#include "server/yard.h"

/* Compares what is wanted with what there is, and begins what is missing. */
void attempt_pursue(struct yard *y, struct attempt *a);
/* An operation of it is complete. */
void attempt_completed(struct yard *y, struct attempt *a);
/* Looks after an attempt that nobody answers for: what became of it? */
void attempt_look(struct yard *y, struct attempt *a);
/* Begins an operation; the rest of a->op is set. */
void attempt_begin_op(struct yard *y, struct attempt *a, enum runtime_op_kind kind);
/* Says something to its conductor, if there is a link. */
void attempt_say(const struct yard *y, const struct attempt *a, const struct to_conductor *m);

#endif
