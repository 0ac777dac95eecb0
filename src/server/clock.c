/* Owns reading the system's clocks. */
#include "server/clock.h"

#include <time.h>

static usec_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (usec_t)t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

usec_t clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

void clock_init(struct clock *c)
{
    *c = (struct clock){.epoch = clock_wall() - read_clock(CLOCK_BOOTTIME)};
}

usec_t clock_now(const struct clock *c)
{
    return c->epoch + read_clock(CLOCK_BOOTTIME);
}

bool clock_jumped(struct clock *c)
{
    usec_t offset = clock_wall() - clock_now(c), by = offset - c->offset;
    if (by < USEC_PER_SEC && by > -USEC_PER_SEC)
        return false;
    c->offset = offset;
    return true;
}
