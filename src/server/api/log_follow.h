/* Streams a log as it grows. */
#ifndef SERVER_API_LOG_FOLLOW_H
#define SERVER_API_LOG_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct reply;
struct yard;

/* Replies with the log from `offset` of the attempt on, and of later attempts, as it grows,
 * until the job ends. */
void log_follow(struct yard *y, struct reply *reply, int64_t job, uint32_t attempt, int64_t offset);
/* The job (0 = any) has changed: sends more, continues with its next attempt, or ends. */
void log_follow_poke(struct yard *y, int64_t job);
/* Whether a request follows this job's log. */
bool log_follow_wants(const struct yard *y, int64_t job);
/* Ends all streams. */
void log_follow_done(struct yard *y);

#endif
