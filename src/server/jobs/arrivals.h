/* Large arrays, which are accepted over several turns: some members in each, so that others are
 * served in between. The first turn stores that the array was submitted, and reserves the ids of
 * all its members. From then on the array is complete sooner or later, whatever is killed: each
 * turn stores some members together with how many there are. */
#ifndef SERVER_JOBS_ARRIVALS_H
#define SERVER_JOBS_ARRIVALS_H

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "server/jobs/live.h"

struct yard;

/* An array that is not complete, or not on disk completely. */
struct arrival {
    struct submission *submission; /* NULL = not in the store: it was undone */
    int64_t request, first;        /* the first job's id; the others follow */
    uint32_t arrived, members;
    usec_t submitted; /* wall clock */
    VEC(struct live_dep) deps;
    /* Called once, when all members are on disk, or with the reason why they are not; NULL =
     * nobody waits. */
    void (*done)(void *ctx, const struct arrival *a, const struct err *failure);
    void *ctx;
};

struct arrivals {
    VEC(struct arrival) at; /* in the order of their requests */
};

/* How many members with this many dependencies arrive in one turn. */
uint32_t arrivals_chunk(const struct yard *y, size_t deps);
/* Begins an array whose first members were written. */
int arrivals_add(struct yard *y, const struct live_job *first, uint32_t arrived, uint32_t members,
                 struct err *err);
/* The array whose first job this is; NULL if it is complete. Valid until the turn ends. */
struct arrival *arrivals_find(struct yard *y, int64_t first);
/* Fails with ERR_CONFLICT while the array is not complete. */
int arrivals_check(struct yard *y, int64_t first, struct err *err);

/* Writes the next members, if there are any to come. */
void arrivals_turn(struct yard *y);
/* Whether members are still to come. */
bool arrivals_wait(const struct yard *y);
/* The turn is on disk: tells those who wait for a complete array. */
void arrivals_committed(struct yard *y);

/* Loads what is not complete. Arrays that the yard had before, and those who wait for them, are
 * found again. */
int arrivals_load(struct yard *y, struct err *err);
/* Forgets what came from the store. */
void arrivals_unload(struct yard *y);
/* Tells those whose arrays are not in the store why, and forgets these. */
void arrivals_undone(struct yard *y, const struct err *failure);
/* Forgets everything. */
void arrivals_done(struct yard *y);

#endif
