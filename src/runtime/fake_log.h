/* The logs of simulated jobs, which grow while they run and are fetched by offset. */
#ifndef RUNTIME_FAKE_LOG_H
#define RUNTIME_FAKE_LOG_H

#include "runtime/fake_world.h"

/* A byte of an attempt's log, and its length so far. */
char fake_log_byte(struct attempt_id id, int64_t offset);
int64_t fake_log_bytes(struct fake *f, struct attempt_id id);

/* Starts to pass the log to the server, from this offset on. */
void fake_log_ask(struct fake *f, struct fake_attempt *a, int64_t offset);
/* Passes new bytes on, when that is due. */
void fake_log_turn(struct fake *f, struct fake_attempt *a);

#endif
