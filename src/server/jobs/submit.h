/* Submits batches of requests. */
#ifndef SERVER_JOBS_SUBMIT_H
#define SERVER_JOBS_SUBMIT_H

#include "server/yard.h"
#include "wire/spec.h"

struct ids {
    int64_t *at;
    size_t n, cap;
};
/* Accepts all requests or none. They have passed spec_check() and have a user; accepted ones
 * are empty afterwards. Adds one id to *ids for each job (an array has several). On failure,
 * *at is the index of the invalid request and *field (static, may be NULL) its field. */
int submit_jobs(struct yard *y, struct spec *specs, size_t n, struct ids *ids, size_t *at,
                const char **field, struct err *err);

#endif
