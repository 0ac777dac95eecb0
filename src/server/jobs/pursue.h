/* Brings attempts to their desired state: started, resized, frozen, stopped, cleaned up. This
 * runs when the desired state is on disk. Every action may be repeated. */
#ifndef SERVER_JOBS_PURSUE_H
#define SERVER_JOBS_PURSUE_H

#include "server/yard.h"

/* Compares the desired with the observed state, and begins the next operation. */
void attempt_pursue(struct yard *y, struct attempt *a);
/* Call when the attempt's operation is complete. */
void attempt_completed(struct yard *y, struct attempt *a);
/* Retries a failed operation, or settles an attempt that is not connected. */
void attempt_look(struct yard *y, struct attempt *a);
/* Begins an operation; its parameters in a->op are set. */
void attempt_begin_op(struct yard *y, struct attempt *a, enum runtime_op_kind kind);
/* Sends a message to its conductor, if it is connected. */
void attempt_say(const struct yard *y, const struct attempt *a, const struct to_conductor *m);

#endif
