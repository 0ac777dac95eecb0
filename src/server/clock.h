/* The server's clocks. Engine time is the wall clock at the start of the program,
 * carried on by the monotonic clock: it never jumps. */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

#include <stdbool.h>

#include "base/time.h"

struct clock {
    usec_t epoch;  /* wall clock minus monotonic clock at the start */
    usec_t offset; /* wall clock minus engine time, when last looked at */
};

void clock_init(struct clock *c);
usec_t clock_wall(void);
/* Engine time. */
usec_t clock_now(const struct clock *c);
/* Whether the wall clock was set by more than a second since the last call. */
bool clock_jumped(struct clock *c);

#endif
