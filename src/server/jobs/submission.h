/* A request as it was submitted, parsed once, and shared by all live jobs that came from
 * it: the members of an array have one. It never changes. */
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

/* Writes the request to the store and takes the spec, which is empty then. The caller is
 * its first user. Nothing is taken on failure. */
struct submission *submission_add(struct submissions *all, struct store *store, struct spec *spec,
                                  struct err *err);
/* The request of this id, read from the store if no live job has it; one user more. NULL
 * and ERR_INTERNAL when it cannot be understood. */
struct submission *submission_get(struct submissions *all, struct store *store, int64_t id,
                                  struct err *err);
struct submission *submission_share(struct submission *r);
/* One user less; NULL is fine. */
void submission_drop(struct submissions *all, struct submission *r);
void submissions_done(struct submissions *all);

#endif
