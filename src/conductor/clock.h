/* The conductor's two clocks. Wall time goes into messages and records only;
 * every limit, grace and delay is measured by the steady clock, which nobody can
 * set, so that a jump of the wall clock changes nothing. The steady clock stands
 * still while the machine is suspended, as the job does. */
#ifndef CONDUCTOR_CLOCK_H
#define CONDUCTOR_CLOCK_H

#include <time.h>

#include "base/time.h"

static inline usec_t clock_read(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

static inline usec_t clock_wall(void)
{
    return clock_read(CLOCK_REALTIME);
}

static inline usec_t clock_steady(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

#endif
