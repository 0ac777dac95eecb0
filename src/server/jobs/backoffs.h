/* Jobs that wait before a retry, ordered by the time at which it is due. */
#ifndef SERVER_JOBS_BACKOFFS_H
#define SERVER_JOBS_BACKOFFS_H

#include "base/heap.h"
#include "base/mem.h"

struct live_job;

struct backoffs {
    struct heap due;           /* of indices in `at`, by row.eligible */
    VEC(struct live_job *) at; /* NULL = unused */
    VEC(uint32_t) unused;
};

/* Adds the job, or moves it after its time has changed. */
void backoffs_set(struct backoffs *b, struct live_job *j);
/* Removes the job, if it is there. */
void backoffs_remove(struct backoffs *b, struct live_job *j);
/* The job whose retry is due first; NULL = none waits. */
struct live_job *backoffs_first(const struct backoffs *b);
void backoffs_done(struct backoffs *b);

#endif
