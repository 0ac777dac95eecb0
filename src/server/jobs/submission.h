/* A request as submitted. It is parsed once, never changes, and is shared by its live jobs,
 * such as the members of an array. */
#ifndef SERVER_JOBS_SUBMISSION_H
#define SERVER_JOBS_SUBMISSION_H

#include "base/idmap.h"
#include "store/jobs.h"
#include "wire/spec.h"

struct store;

struct submission {
    int64_t id; /* in the store */
    uint32_t users;
    struct spec spec;
    bool bare; /* its environment is gone: no attempt can begin */
};

/* The requests of live jobs, by id. */
struct submissions {
    struct idmap by_id;
    const char *state_dir; /* for environments (jobs/environment.h) */
    VEC(int64_t) over;     /* whose environments are to be removed after the commit */
};

/* Why a job of a bare request cannot start. */
#define SUBMISSION_BARE "its environment is gone; submit it again"

/* Writes the request to the store and takes the spec, which is empty afterwards. The caller
 * is its first user. Returns NULL, and takes nothing, on failure. */
struct submission *submission_add(struct submissions *all, struct store *store, struct spec *spec,
                                  struct err *err);
/* Adds a user to the request of this id, which is read from the store if no live job has it.
 * Returns NULL on failure: ERR_INVALID if it cannot be parsed, ERR_NOT_FOUND if it does not
 * exist, or an error of the store. */
struct submission *submission_get(struct submissions *all, struct store *store, int64_t id,
                                  struct err *err);
/* Adds a user. */
struct submission *submission_share(struct submission *r);
/* Removes a user; the last one frees it. NULL is legal. */
void submission_drop(struct submissions *all, struct submission *r);
/* The same for a job that is over: after the commit nobody needs the environment any more. */
void submission_end(struct submissions *all, struct submission *r);
/* The turn was committed: removes environments that nobody needs. */
void submissions_committed(struct submissions *all);
/* Removes environments of requests that no live job has. */
void submissions_sweep(struct submissions *all);
/* Gives a bare request the part of this environment that its `export` allows. */
int submission_dress(struct submissions *all, struct submission *r, struct spec_list *environment,
                     struct err *err);
/* The request as JSON, for the store and for users: of its environment only the names. */
struct json_t *submission_to_json(const struct spec *spec);
/* Call when no request has users. */
void submissions_done(struct submissions *all);

#endif
