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
};

/* The requests of live jobs, by id. */
struct submissions {
    struct idmap by_id;
};

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
/* Call when no request has users. */
void submissions_done(struct submissions *all);

#endif
