/* Owns reading the system's clocks. */
#include "base/clock.h"

#include <time.h>

static usec_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

usec_t clock_read_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

usec_t clock_read_steady(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

usec_t clock_read_boot(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

double clock_read_precise(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static usec_t system_wall(void *ctx)
{
    (void)ctx;
    return clock_read_wall();
}

static usec_t system_boot(void *ctx)
{
    (void)ctx;
    return clock_read_boot();
}

const struct clock_source clock_system = {system_wall, system_boot, NULL};
