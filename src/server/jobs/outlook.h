/* Whether a job can meet its deadline: a forecast with the jobs that are there, under the policy in
 * force. */
#ifndef SERVER_JOBS_OUTLOOK_H
#define SERVER_JOBS_OUTLOOK_H

#include "base/str.h"
#include "server/yard.h"

struct outlook {
    enum outlook_kind {
        OUTLOOK_MET,     /* it is expected to end in time */
        OUTLOOK_LATE,    /* it is not; `end` is the earliest time that was found */
        OUTLOOK_UNKNOWN, /* how long it takes is not known yet, or the forecast takes too long */
    } kind;
    usec_t end;    /* engine time; USEC_NEVER = unknown */
    usec_t start;  /* the same */
    units_t units; /* that it starts with */
    enum outlook_basis {
        OUTLOOK_BY_NOTHING, /* nothing is known about its length */
        OUTLOOK_BY_LIMIT,   /* its time limit: `end` is the latest time, not the expected one */
        OUTLOOK_BY_PAST,    /* an earlier run of its program */
        OUTLOOK_BY_STEPS,   /* its own steps */
    } basis;
};

/* `j` may be one that the engine does not know yet; it has its terms and its deadline. */
void outlook_make(const struct yard *y, const struct live_job *j, struct outlook *out);

const char *outlook_name(enum outlook_kind kind);
/* "the deadline in 2 hours can be met: it starts at once on 2 CPUs and ends in about 80 minutes".
 */
void outlook_phrase(const struct yard *y, const struct live_job *j, const struct outlook *o,
                    struct str *out);

#endif
