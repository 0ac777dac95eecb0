/* Taking requests: all of a batch or none. */
#ifndef SERVER_JOBS_SUBMIT_H
#define SERVER_JOBS_SUBMIT_H

#include "server/yard.h"
#include "wire/spec.h"

/* Takes all of them or none. Requests have passed spec_check(), and the user is set; those
 * that are taken are empty then.
 * *ids grows by one id for each job (arrays have several). On failure *at is the
 * number of the request at fault and *field (static, may be NULL) its field. */
struct ids {
    int64_t *at;
    size_t n, cap;
};
int submit_jobs(struct yard *y, struct spec *specs, size_t n, struct ids *ids, size_t *at,
                const char **field, struct err *err);

#endif
