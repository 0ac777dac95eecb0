/* Groups of live jobs: those of the same name and user (singleton), and those of an array with
 * a limit. They show which jobs are affected when one starts or ends, without a search through
 * all jobs. */
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

/* A list of jobs in the order of their ids. */
struct tie_list {
    struct live_job *first, *last;
};

enum tie_links { TIE_NAME, TIE_WAIT, TIE_LINKS };

/* A job's place in its groups. */
struct tied {
    struct tie_names *names; /* jobs of the same name and user, linked by TIE_NAME */
    struct tie_array *array; /* its waiting jobs are linked by TIE_WAIT; NULL = no limit */
    struct tie_link {
        struct live_job *prev, *next;
    } links[TIE_LINKS];
    bool active;  /* it counts towards the limit of its array */
    bool waiting; /* it waits for that limit */
};

/* Adds a new live job, whose terms are set; removes one that has ended. */
void ties_add(struct ties *t, struct live_job *j);
void ties_remove(struct ties *t, struct live_job *j);
void ties_done(struct ties *t);

/* The oldest job of the same name and user; NULL if that is the job itself. */
struct live_job *ties_elder(const struct live_job *j);
/* The next younger job of the same name and user; NULL = none. */
struct live_job *ties_younger(const struct live_job *j);

/* Whether its array has reached its limit of active members. */
bool ties_array_full(const struct live_job *j);
/* Records whether the job is active, and whether it waits for the limit. */
void ties_note(struct live_job *j, bool active, bool waiting);
/* The first member of the array that waits for its limit; NULL = none. */
struct live_job *ties_waiting(const struct ties *t, int64_t array);

#endif
