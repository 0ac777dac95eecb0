/* The server's clocks. Engine time is the wall clock at the start of the program plus the
 * time since then by the boot clock: it never jumps. */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

#include <stdbool.h>

#include "base/clock.h"

struct clock {
    const struct clock_source *source;
    usec_t epoch;  /* wall clock minus boot clock at the start */
    usec_t offset; /* wall clock minus engine time, when last compared */
};

/* The source must outlive the clock. */
void clock_init(struct clock *c, const struct clock_source *source);
usec_t clock_wall(const struct clock *c);
/* Engine time. */
usec_t clock_now(const struct clock *c);
/* How long the machine has been up. */
usec_t clock_up(const struct clock *c);
/* Whether the wall clock jumped by more than a second since the last call. */
bool clock_jumped(struct clock *c);

#endif
