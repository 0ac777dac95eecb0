/* Notifications: which events become messages, and for whom. A message is written in the same
 * turn as its event, so neither is lost; server/notices/deliver.h delivers it. */
#ifndef SERVER_NOTICES_NOTICES_H
#define SERVER_NOTICES_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct delivery;
struct target_row;
struct uv_timer_s;
struct yard;

struct notices {
    struct delivery *first;   /* under way */
    struct uv_timer_s *timer; /* of the next attempt; NULL = not open, or no loop */
    bool fresh;               /* messages were written in this turn */
    usec_t look_at;           /* engine time of the next search for stalls and deadlines */
};

/* Writes the messages about an event, as events_add() got it; `json` has its members. */
void notices_event(struct yard *y, const char *kind, int64_t job, const char *json);
/* Writes a message that only says that the target works. */
int notices_test(struct yard *y, const struct target_row *target, struct err *err);

#endif
