/* How live jobs are tied to each other: by dependencies, by name and user (singleton),
 * by an array with a limit. What the start or the end of one job means for others is
 * found without looking at all jobs. */
#ifndef SERVER_JOBS_TIES_H
#define SERVER_JOBS_TIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"

struct live_job;

struct ties {
    struct idmap names;  /* struct tie_names by a hash of name and user */
    struct idmap arrays; /* struct tie_array by the id of the array */
};

/* Of one job. */
struct tied {
    struct tie_names *names;
    struct live_job *name_prev, *name_next;   /* same name and user, by id */
    struct tie_array *array;                  /* NULL = it is in none that has a limit */
    struct live_job *array_prev, *array_next; /* waiting members, by id */
    bool active;                              /* it counts towards the limit of its array */
    bool waiting;                             /* it waits for that limit */
};

/* A job that has become live, with its terms known; and one that is over. */
void ties_add(struct ties *t, struct live_job *j);
void ties_remove(struct ties *t, struct live_job *j);
void ties_done(struct ties *t);

/* The oldest job of the same name and user, if that is not the job itself; else NULL. */
struct live_job *ties_elder(const struct live_job *j);
/* The next younger one of the same name and user; NULL = none. */
struct live_job *ties_younger(const struct live_job *j);

/* Whether as many members of its array are active as its limit allows. */
bool ties_array_full(const struct live_job *j);
/* Notes whether the job counts as active, and whether it waits for the limit. */
void ties_note(struct live_job *j, bool active, bool waiting);
/* The first member of the array that waits for its limit; NULL = none. */
struct live_job *ties_waiting(const struct ties *t, int64_t array);

#endif
