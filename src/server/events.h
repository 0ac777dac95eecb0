/* What happens in the yard, for users to follow: kept in the store, and pushed to
 * those who listen once it is on disk. */
#ifndef SERVER_EVENTS_H
#define SERVER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "protocol/progress_report.h"

struct json_t;
struct reply;
struct yard;

/* Enters an event; `extra` (may be NULL) is an object whose members are added to it;
 * the reference is taken. job 0 = about none. */
void events_add(struct yard *y, const char *kind, int64_t job, struct json_t *extra);
/* Progress goes to those who follow with progress=1 only, and is not kept. */
void events_progress(struct yard *y, int64_t job, usec_t at, const struct progress_report *r);
/* Sends what this turn entered. Called after the commit; with false they are dropped. */
void events_flush(struct yard *y, bool committed);

/* Answers with a stream of events behind `after` (-1 = from now on), of one job (0 = all). */
void events_follow(struct yard *y, struct reply *reply, int64_t after, int64_t job, bool progress);
void events_init(struct yard *y);
/* Ends all streams. */
void events_done(struct yard *y);

/* Appends an event as the API gives it; `json` is the object of its other members. */
void events_write(struct str *out, int64_t seq, usec_t at, int64_t job, const char *kind,
                  const char *json);

#endif
