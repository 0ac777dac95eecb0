/* The directories of a server: its state, and where its sockets are (the run directory). */
#ifndef SERVER_PLACES_H
#define SERVER_PLACES_H

#include <sys/types.h>

#include "base/err.h"

struct places;
struct uv_loop_s;

/* Creates the directories, which may be the same, and locks them for this process. ERR_CONFLICT
 * when another server uses one of them. */
int places_open(const char *state, const char *run, struct places **out, struct err *err);
/* Unlocks them. */
void places_close(struct places *p);

/* Lets members of the group into the run directory, which must not be that of the state. */
int places_share(struct places *p, gid_t group, struct err *err);

/* Absolute paths. */
const char *places_state(const struct places *p);
const char *places_run(const struct places *p);

/* Calls changed(ctx) soon after names in the run directory have changed. The directory exists
 * and is locked then: if it was removed, it is made again. */
int places_watch(struct places *p, struct uv_loop_s *loop, void (*changed)(void *ctx), void *ctx,
                 struct err *err);
/* Ends that; the loop must run once more. */
void places_unwatch(struct places *p);

#endif
