/* The system's clocks. This is the only place that reads them; whoever needs the time
 * is given it, or is given a struct clock_source. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/time.h"

/* Wall time, since 1970. It may be set, and so may jump. */
usec_t clock_read_wall(void);
/* Never set. Stands still while the machine is suspended. */
usec_t clock_read_steady(void);
/* The same with fractions, to measure what is short. */
double clock_read_precise(void);

/* Where a server takes its time from: the system, or a test's own clock. */
struct clock_source {
    usec_t (*wall)(void *ctx);
    usec_t (*boot)(void *ctx);
    void *ctx;
};

extern const struct clock_source clock_system;

#endif
