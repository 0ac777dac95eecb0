/* A request as it was submitted. It is parsed once, shared by all live jobs that came from
 * it, as the members of an array did, and never changes. */
#ifndef SERVER_JOBS_SUBMISSION_H
#define SERVER_JOBS_SUBMISSION_H

#include "base/idmap.h"
#include "store/jobs.h"
#include "wire/spec.h"

struct store;

struct submission {
    int64_t id; /* of the store */
    uint32_t users;
    struct spec spec;
};

/* The requests that live jobs have, by id. */
struct submissions {
    struct idmap by_id;
};

/* Writes the request to the store and takes the spec, which is empty afterwards. The caller
 * is its first user. Returns NULL, and takes nothing, on failure. */
struct submission *submission_add(struct submissions *all, struct store *store, struct spec *spec,
                                  struct err *err);
/* Adds a user to the request of this id, which is read from the store if no live job has
 * it. Returns NULL on failure: ERR_INVALID when it cannot be understood, ERR_NOT_FOUND when
 * there is none, else as the store fails. */
struct submission *submission_get(struct submissions *all, struct store *store, int64_t id,
                                  struct err *err);
/* Adds a user. */
struct submission *submission_share(struct submission *r);
/* Removes a user; the last one frees it. NULL is legal. */
void submission_drop(struct submissions *all, struct submission *r);
/* When no request has a user any more. */
void submissions_done(struct submissions *all);

#endif
