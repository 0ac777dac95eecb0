/* Owns wall-clock time, engine time, and the offset between them. */
#include "server/clock.h"

void clock_init(struct clock *c, const struct clock_source *source)
{
    *c = (struct clock){.source = source,
                        .epoch = source->wall(source->ctx) - source->boot(source->ctx)};
}

usec_t clock_wall(const struct clock *c)
{
    return c->source->wall(c->source->ctx);
}

usec_t clock_now(const struct clock *c)
{
    return c->epoch + c->source->boot(c->source->ctx);
}

usec_t clock_up(const struct clock *c)
{
    return c->source->boot(c->source->ctx);
}

bool clock_jumped(struct clock *c)
{
    usec_t offset = clock_wall(c) - clock_now(c), by = offset - c->offset;
    if (by < USEC_PER_SEC && by > -USEC_PER_SEC)
        return false;
    c->offset = offset;
    return true;
}
