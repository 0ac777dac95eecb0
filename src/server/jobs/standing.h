/* What the policies in force think of a job, in sentences, and when a policy moves it
 * from one of its lists to another. */
#ifndef SERVER_JOBS_STANDING_H
#define SERVER_JOBS_STANDING_H

#include "server/yard.h"

struct json_t;

/* A new list of sentences; empty when nobody has anything to say. */
struct json_t *standing_list(struct yard *y, const struct live_job *j);

/* After a decision: jobs that share their CPUs by weight follow their shares, and an
 * event tells of each that was put into another list. */
void standing_follow(struct yard *y);
/* Another policy is in force: its lists are others. */
void standing_forget(struct yard *y);

#endif
