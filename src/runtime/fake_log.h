/* The logs of pretended jobs, which grow while they run and are fetched by offset. */
#ifndef RUNTIME_FAKE_LOG_H
#define RUNTIME_FAKE_LOG_H

#include "runtime/fake_world.h"

/* A byte of the log of an attempt, and how many there are so far. */
char fake_log_byte(struct attempt_id id, int64_t offset);
int64_t fake_log_bytes(struct fake *f, struct attempt_id id);

/* A server asks for the log from this offset on. */
void fake_log_ask(struct fake *f, struct fake_attempt *a, int64_t offset);
/* Passes on what there is, when it is due. */
void fake_log_turn(struct fake *f, struct fake_attempt *a);

#endif
