/* The turn of the loop: what happens between two waits, in one transaction. Nobody is
 * told of anything, and nothing is done to a job, before it is on disk. */
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
    VEC(struct attempt *) todo;     /* to be looked at */
    VEC(struct live_job *) changed; /* rows to save */
    VEC(struct attempt *) attempts; /* the same */
    bool urgent;                    /* somebody waits for the commit */
    usec_t lazy_at;    /* engine time of the commit that nobody waits for; USEC_NEVER = none */
    bool failing;      /* the last commit failed */
    bool reading;      /* the request that is being served changes nothing */
    uint32_t failures; /* commits in a row that did */
    usec_t retry_at;   /* engine time of the next try, unless somebody waits for an answer */
    char failure[256]; /* why it failed */
};

/* Answers when the turn is on disk, or with a problem when it could not be written. While
 * nothing can be written, a request that only reads is answered at once.
 * Takes the reference to `body`. The reply was not deferred yet. */
void turn_reply(struct yard *y, struct reply *reply, int status, struct json_t *body);
/* Somebody waits for what was written: commit at the end of this turn. Otherwise it
 * is committed within a few seconds. */
void turn_hurry(struct yard *y);
/* The attempt is looked at once the turn is on disk: something else may be wanted. */
void turn_pursue(struct yard *y, struct attempt *a);
/* Writes the rows that have changed, without a commit: the store says what memory says. */
void turn_save(struct yard *y);
/* Ends the turn: decide, save, commit, reply, act. Whoever drives the yard calls it
 * before each wait, and once at the end. */
void turn_end(struct yard *y);
/* Engine time at which the next turn must end at the latest. */
usec_t turn_due(const struct yard *y);

/* Takes an attempt out of all lists: it is about to be freed. */
void turn_forget(struct yard *y, const struct attempt *a);
/* Before the first turn; after the last one, with a commit. */
void turn_init(struct yard *y);
void turn_done(struct yard *y);

#endif
