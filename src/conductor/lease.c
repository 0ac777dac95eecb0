/* Owns the rules of the lease. A third of it is left for the server to come back after the
 * question was not answered twice. */
#include "conductor/lease.h"

void lease_init(struct lease *l, usec_t length, usec_t now)
{
    *l = (struct lease){.length = length, .until = length ? now + length : USEC_NEVER};
}

void lease_await(struct lease *l, usec_t now)
{
    l->until = l->length ? now : USEC_NEVER;
}

static usec_t ask_at(const struct lease *l)
{
    return l->asked ? l->asked + l->length / 3 : l->until - 2 * (l->length / 3);
}

bool lease_ask(struct lease *l, usec_t now)
{
    if (!l->length || ask_at(l) > now)
        return false;
    l->asked = now;
    return true;
}

void lease_reconnected(struct lease *l)
{
    l->asked = 0;
}

void lease_renew(struct lease *l, usec_t asked, usec_t length)
{
    if (!l->length || !l->asked || asked > l->asked)
        return;
    l->length = length;
    if (!length)
        l->until = USEC_NEVER;
    else if (asked + length > l->until)
        l->until = asked + length;
    if (asked == l->asked)
        l->asked = 0;
}

bool lease_is_over(const struct lease *l, usec_t now)
{
    return l->length && l->until <= now;
}

usec_t lease_next(const struct lease *l, bool connected)
{
    if (!l->length)
        return USEC_NEVER;
    usec_t ask = connected ? ask_at(l) : USEC_NEVER;
    return ask < l->until ? ask : l->until;
}
