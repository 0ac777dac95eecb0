/* The time of day, for commands: what they are made of gets it as an argument. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <time.h>

#include "base/time.h"

static inline usec_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

/* Sleeps for this long, or until a signal. */
static inline void clock_sleep(usec_t t)
{
    struct timespec pause = {t / USEC_PER_SEC, (t % USEC_PER_SEC) * 1000};
    nanosleep(&pause, NULL);
}

#endif
