/* Submits batches of requests. */
#ifndef SERVER_JOBS_SUBMIT_H
#define SERVER_JOBS_SUBMIT_H

#include "server/yard.h"
#include "wire/spec.h"

enum {
    SUBMIT_BATCH_MAX = 10000,  /* jobs of a batch of several requests */
    SUBMIT_DEPS_MAX = 1000000, /* dependencies of all jobs of a request together */
};

struct ids {
    int64_t *at;
    size_t n, cap;
};
/* The number of jobs that the request asks for. */
uint32_t submit_members(const struct spec *s);
/* Gives a request that names no image the server's default one; the name "none" asks for a process.
 * Before spec_check(). */
void submit_choose_image(const struct yard *y, struct spec *s);
/* Accepts all requests or none. They have passed spec_check() and have a user; accepted ones
 * are empty afterwards. Adds one id to *ids for each job (an array has several); the rest of a
 * large array arrives in later turns (arrivals.h). On failure, *at is the index of the invalid
 * request and *field (static, may be NULL) its field. */
int submit_jobs(struct yard *y, struct spec *specs, size_t n, struct ids *ids, size_t *at,
                const char **field, struct err *err);

#endif
