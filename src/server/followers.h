/* Requests that follow events (events.c) or growing logs (api/log_follow.c). They are sent
 * only what is on disk. */
#ifndef SERVER_FOLLOWERS_H
#define SERVER_FOLLOWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/time.h"

struct event_follower;
struct log_follower;

/* An event of this turn, for followers that have seen all earlier ones. */
struct news {
    int64_t seq, job;
    char *kind, *data;
};

struct followers {
    struct event_follower *events;
    struct log_follower *logs;
    VEC(struct news) news;
    bool overflow;             /* the turn had more events than `news` keeps */
    int64_t newest, committed; /* seq of the last event, and of the last on disk */
};

#endif
