/* Events that users can follow. */
#ifndef STORE_EVENTS_H
#define STORE_EVENTS_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Adds an event; `seq` grows by one each and is never used again, not even after the event was
 * deleted. `job` is 0 when it is about no job. */
int store_event_add(struct store *s, usec_t at, int64_t job, const char *kind, const char *json,
                    int64_t *seq, struct err *err);
typedef int (*store_event_fn)(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                              const char *json, struct err *err);
/* Lists events after `after`, of one job or (0) of all; limit 0 = no limit. */
int store_event_list(struct store *s, int64_t after, int64_t job, uint32_t limit, store_event_fn fn,
                     void *ctx, struct err *err);
/* Lists the newest first, of one job or (0) of all; limit 0 = no limit. */
int store_event_latest(struct store *s, int64_t job, uint32_t limit, store_event_fn fn, void *ctx,
                       struct err *err);

#endif
