/* Studies: what-ifs (advisor/whatif.h) that are under way. Each turn of the loop does some
 * milliseconds of work for one of them, so nobody else waits long. */
#ifndef SERVER_STUDIES_H
#define SERVER_STUDIES_H

#include "advisor/whatif.h"
#include "server/yard.h"

enum { STUDIES_MAX = 4 };

struct study {
    struct whatif *what;
    uint32_t draws; /* that are wanted */
    usec_t budget;  /* of work; the expected courses are completed in any case */
    usec_t spent;
    /* It is complete, or `failure` says why it cannot be. The study was forgotten before. */
    void (*done)(void *ctx, const struct err *failure);
    void *ctx;
    struct study *next;
};

/* Takes the study, which the caller owns, until it is done or forgotten. Fails if there are too
 * many. */
int study_begin(struct yard *y, struct study *s, struct err *err);
/* Stops it without a word. */
void study_forget(struct yard *y, struct study *s);

/* Does some of the work. */
void studies_turn(struct yard *y);
bool studies_wait(const struct yard *y);
/* The server stops, or loads its state again: ends all of them with an error. */
void studies_end(struct yard *y);

#endif
