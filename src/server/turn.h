/* The turn of the loop: what happens between two waits, in one transaction. No reply or
 * event is sent, and no action is taken on a job, before the transaction is on disk. */
#ifndef SERVER_TURN_H
#define SERVER_TURN_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/time.h"

struct attempt;
struct json_t;
struct reply;
struct yard;
struct live_job;

struct turn {
    VEC(struct pending {
        struct reply *reply;
        int status;
        struct json_t *body;
    })
    replies;
    VEC(struct attempt *) todo;     /* to pursue after the commit */
    VEC(struct live_job *) changed; /* rows to save */
    VEC(struct attempt *) attempts; /* rows to save */
    bool urgent;                    /* commit at the end of this turn */
    usec_t lazy_at;    /* engine time of a commit that is not urgent; USEC_NEVER = none */
    bool failing;      /* the last commit failed */
    bool reading;      /* the current request only reads */
    uint32_t failures; /* failed commits in a row */
    usec_t retry_at;   /* engine time of the next commit, unless a request is pending */
    char failure[256]; /* why the last commit failed */
};

/* Sends the reply when the turn is on disk, or an error if it could not be written. While
 * nothing can be written, a request that only reads is answered at once.
 * Takes the reference to `body`. The reply must not be deferred yet. */
void turn_reply(struct yard *y, struct reply *reply, int status, struct json_t *body);
/* Commits at the end of this turn. Without it, changes are committed within a few seconds. */
void turn_hurry(struct yard *y);
/* Pursues the attempt's desired state (jobs/pursue.h), which has changed, once the turn is
 * on disk. */
void turn_pursue(struct yard *y, struct attempt *a);
/* Pursues it in this turn. The desired state has not changed, so there may be nothing to
 * commit first. */
void turn_look_at(struct yard *y, struct attempt *a);
/* Writes the changed rows to the store, without a commit. */
void turn_save(struct yard *y);
/* Ends the turn: decide, save, commit, reply, act. The loop calls it before each wait, and
 * once at the end. */
void turn_end(struct yard *y);
/* Engine time at which the next turn must have ended. */
usec_t turn_due(const struct yard *y);

/* Removes an attempt from all lists, before it is freed. */
void turn_forget(struct yard *y, const struct attempt *a);
/* Called before the first turn, and after the last one; turn_done() commits. */
void turn_init(struct yard *y);
void turn_done(struct yard *y);

#endif
