/* Those who listen: to events (events.c) and to logs that grow (log_follow.c). They
 * come and go with their requests; what they are sent is on disk already. */
#ifndef SERVER_FOLLOWERS_H
#define SERVER_FOLLOWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"

struct event_follower;
struct log_follower;
struct reply;
struct yard;

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

/* Appends an event as the API gives it; `json` is the object of its other members. */
void events_write(struct str *out, int64_t seq, usec_t at, int64_t job, const char *kind,
                  const char *json);

/* Answers with the log from `offset` of the attempt on, and of the attempts after it,
 * as it grows, until the job is over. */
void log_follow(struct yard *y, struct reply *reply, int64_t job, uint32_t attempt, int64_t offset);
/* Something has happened to the job (0 = to any): looks whether the logs go on. */
void log_follow_poke(struct yard *y, int64_t job);
bool log_follow_wants(const struct yard *y, int64_t job);
/* Ends all. */
void log_follow_done(struct yard *y);

#endif
