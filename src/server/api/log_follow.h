/* Replies that follow a log as it grows. */
#ifndef SERVER_API_LOG_FOLLOW_H
#define SERVER_API_LOG_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct reply;
struct yard;

/* Answers with the log from `offset` of the attempt on, and of the attempts after it,
 * as it grows, until the job is over. */
void log_follow(struct yard *y, struct reply *reply, int64_t job, uint32_t attempt, int64_t offset);
/* Something has happened to the job (0 = to any): looks whether the logs go on. */
void log_follow_poke(struct yard *y, int64_t job);
bool log_follow_wants(const struct yard *y, int64_t job);
/* Ends all. */
void log_follow_done(struct yard *y);

#endif
