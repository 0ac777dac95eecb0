/* Those who listen: to events (events.c) and to logs that grow (log_follow.c). They
 * come and go with their requests; what they are sent is on disk already. */
#ifndef SERVER_FOLLOWERS_H
#define SERVER_FOLLOWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/time.h"

struct event_follower;
struct log_follower;

/* An event of this turn, for followers that have seen all before it. */
struct news {
    int64_t seq, job;
    char *kind, *data;
};

struct followers {
    struct event_follower *events;
    struct log_follower *logs;
    VEC(struct news) news;
    bool overflow;             /* there were more than could be kept */
    int64_t newest, committed; /* seq of the last event, and of the last on disk */
};

#endif
