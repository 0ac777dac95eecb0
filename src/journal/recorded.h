/* The workload that a journal has recorded (arrivals, work, nodes), and what another policy
 * would have made of it. */
#ifndef JOURNAL_RECORDED_H
#define JOURNAL_RECORDED_H

#include <stdint.h>

#include "base/err.h"
#include "policy/combo.h"

struct recorded;
struct store;

/* Over the jobs that ran and ended while recording. */
struct recorded_figures {
    uint32_t jobs;
    uint32_t unfinished; /* of these, jobs that do not end under the tried policy */
    double mean_s;       /* from submission to end; NAN = no job has ended */
    double makespan_s;   /* from the first arrival to the last end */
    uint32_t missed;     /* deadlines */
    uint32_t preemptions, moves, resizes;
};

/* Reads one start of the server, or (0) all of them. Fails if the journal cannot be read
 * (ERR_IO) or the start does not exist (ERR_NOT_FOUND). */
int recorded_read(struct store *s, int64_t boot, struct recorded **out, struct err *err);
void recorded_free(struct recorded *r);

/* What has happened. */
struct recorded_figures recorded_figures(const struct recorded *r);
/* The policy at the end. */
const struct combo *recorded_policy(const struct recorded *r);

/* What would have happened under this policy: jobs arrive when they did and take the work that
 * they took. */
int recorded_try(const struct recorded *r, const struct combo *combo, struct recorded_figures *out,
                 struct err *err);

#endif
