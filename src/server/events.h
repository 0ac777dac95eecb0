/* Events that users can follow: they are kept in the store, and sent to followers once they
 * are on disk. */
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

/* Adds an event, about a job (0 = none). Takes `extra` (may be NULL), an object whose members
 * are added to the event. */
void events_add(struct yard *y, const char *kind, int64_t job, struct json_t *extra);
/* Sends progress to followers with progress=1. It is not stored. */
void events_progress(struct yard *y, int64_t job, usec_t at, const struct progress_report *r,
                     const char *metrics);
/* Whether anybody follows the job's progress. */
bool events_progress_wanted(const struct yard *y, int64_t job);
/* Sends the events of this turn after its commit; drops them if the commit failed. */
void events_flush(struct yard *y, bool committed);

/* Replies with a stream of events after `after` (-1 = from now on), of one job (0 = all). */
void events_follow(struct yard *y, struct reply *reply, int64_t after, int64_t job, bool progress);
void events_init(struct yard *y);
/* Ends all streams. */
void events_done(struct yard *y);

/* Appends an event in the API's form; `json` is an object with its other members. */
void events_write(struct str *out, int64_t seq, usec_t at, int64_t job, const char *kind,
                  const char *json);

#endif
