/* Probes: a job is run on another size for a short time, to learn how it scales. They are bounded
 * and recorded as the events job.probe and job.probed; `no_probe` in a request forbids them. */
#ifndef SERVER_JOBS_PROBE_H
#define SERVER_JOBS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "model/speed_fit.h"
#include "server/jobs/terms.h"

struct live_job;
struct yard;

struct probe {
    units_t units;    /* it gets at most this many now; 0 = no probe is under way */
    bool grows;       /* to a size that its curve says does not help */
    uint32_t attempt; /* that it belongs to */
    units_t from;     /* size before it */
    usec_t until;     /* engine time at which it ends at the latest */
    uint32_t reports; /* on that size */
    uint32_t made;    /* before this one, of those that found a difference */
    usec_t next;      /* engine time before which none begins */
};

/* The job has reported a step: its probe may be complete, or one may begin. */
void probe_report(struct yard *y, struct live_job *j);
/* Ends the probes that have taken too long or whose attempt is over. Returns the engine time of
 * the next look; USEC_NEVER = none is under way. */
usec_t probe_look(struct yard *y, usec_t now);

/* Applies a probe that is under way to a copy of the job's terms, and to its curve. */
void probe_limit(const struct live_job *j, struct terms *t, const struct speed_fit **curve);

#endif
