/* Owns the order of jobs that wait before a retry. A job has the number of its place, plus 1. */
#include "server/jobs/backoffs.h"

#include "server/jobs/live.h"

static uint32_t take_place(struct backoffs *b, struct live_job *j)
{
    if (b->unused.n) {
        uint32_t place = b->unused.at[--b->unused.n];
        b->at.at[place] = j;
        return place;
    }
    VEC_PUSH(&b->at, j);
    return (uint32_t)(b->at.n - 1);
}

void backoffs_set(struct backoffs *b, struct live_job *j)
{
    if (!j->backoff)
        j->backoff = take_place(b, j) + 1;
    heap_set(&b->due, j->backoff - 1, j->row.eligible);
}

void backoffs_remove(struct backoffs *b, struct live_job *j)
{
    if (!j->backoff)
        return;
    uint32_t place = j->backoff - 1;
    heap_remove(&b->due, place);
    b->at.at[place] = NULL;
    VEC_PUSH(&b->unused, place);
    j->backoff = 0;
}

struct live_job *backoffs_first(const struct backoffs *b)
{
    return b->due.n ? b->at.at[heap_top(&b->due).id] : NULL;
}

void backoffs_done(struct backoffs *b)
{
    heap_done(&b->due);
    VEC_DONE(&b->at);
    VEC_DONE(&b->unused);
}
