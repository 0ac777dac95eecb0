/* The system's clocks. Only this file reads them; everything else is passed the time, or a
 * struct clock_source. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/time.h"

/* Wall time since 1970. It can be set, so it may jump. */
usec_t clock_read_wall(void);
/* Cannot be set. Stops while the machine is suspended. */
usec_t clock_read_steady(void);
/* The same, but it also counts while the machine is suspended. */
usec_t clock_read_boot(void);
/* The steady clock with fractions, to measure short times. */
double clock_read_precise(void);

/* Where a server gets the time from: the system, or a test's own clock. */
struct clock_source {
    usec_t (*wall)(void *ctx);
    usec_t (*boot)(void *ctx);
    void *ctx;
};

extern const struct clock_source clock_system;

#endif
