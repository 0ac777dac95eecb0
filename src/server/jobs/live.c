/* Owns the table of live jobs: a hash by id with linear probing, and a list by id. */
#include "server/jobs/live.h"

#include <string.h>

#include "base/rng.h"

const char *stop_why_name(enum stop_why why)
{
    static const char *const names[] = {
#define X(name, text) text,
        STOP_CODES(X)
#undef X
    };
    return names[why];
}

enum stop_why stop_why_parse(const char *text)
{
    for (enum stop_why why = STOP_NONE; why <= STOP_TIMEOUT; why++)
        if (!strcmp(stop_why_name(why), text))
            return why;
    return STOP_NONE;
}

void attempt_free(struct attempt *a)
{
    if (!a)
        return;
    free(a->dir);
    free(a->reason);
    free(a->notice);
    free(a);
}

void live_job_free(struct live_job *j)
{
    if (!j)
        return;
    free((char *)j->row.name);
    free((char *)j->row.user);
    free((char *)j->row.reason);
    free((char *)j->row.said);
    VEC_DONE(&j->deps);
    arena_done(&j->arena);
    attempt_free(j->attempt);
    free(j);
}

/* Where the id is, or would be. */
static size_t place_of(const struct live_jobs *jobs, int64_t id)
{
    size_t at = rng_mix((uint64_t)id) & (jobs->cap - 1);
    while (jobs->slots[at] && jobs->slots[at]->row.id != id)
        at = (at + 1) & (jobs->cap - 1);
    return at;
}

struct live_job *live_find(const struct live_jobs *jobs, int64_t id)
{
    return jobs->cap ? jobs->slots[place_of(jobs, id)] : NULL;
}

static void grow(struct live_jobs *jobs)
{
    struct live_jobs old = *jobs;
    jobs->cap = old.cap ? old.cap * 2 : 64;
    jobs->slots = xcalloc(jobs->cap, sizeof *jobs->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i])
            jobs->slots[place_of(jobs, old.slots[i]->row.id)] = old.slots[i];
    free(old.slots);
}

/* New jobs have the largest id; only one that is taken back is put between others. */
static void list_insert(struct live_jobs *jobs, struct live_job *j)
{
    struct live_job *before = jobs->last;
    while (before && before->row.id > j->row.id)
        before = before->prev;
    j->prev = before;
    j->next = before ? before->next : jobs->first;
    *(j->next ? &j->next->prev : &jobs->last) = j;
    *(before ? &before->next : &jobs->first) = j;
}

static void list_remove(struct live_jobs *jobs, struct live_job *j)
{
    *(j->next ? &j->next->prev : &jobs->last) = j->prev;
    *(j->prev ? &j->prev->next : &jobs->first) = j->next;
    j->prev = j->next = NULL;
}

void live_add(struct live_jobs *jobs, struct live_job *j)
{
    list_insert(jobs, j);
    if (jobs->n * 2 >= jobs->cap)
        grow(jobs);
    jobs->slots[place_of(jobs, j->row.id)] = j;
    jobs->n++;
}

void live_remove(struct live_jobs *jobs, struct live_job *j)
{
    size_t hole = place_of(jobs, j->row.id);
    list_remove(jobs, j);
    jobs->slots[hole] = NULL;
    jobs->n--;
    /* Whoever was pushed past the hole moves back, so that it is found. */
    for (size_t at = (hole + 1) & (jobs->cap - 1); jobs->slots[at];
         at = (at + 1) & (jobs->cap - 1)) {
        struct live_job *moved = jobs->slots[at];
        jobs->slots[at] = NULL;
        jobs->slots[place_of(jobs, moved->row.id)] = moved;
    }
}

void live_done(struct live_jobs *jobs)
{
    for (size_t i = 0; i < jobs->cap; i++)
        live_job_free(jobs->slots[i]);
    free(jobs->slots);
    *jobs = (struct live_jobs){0};
}
