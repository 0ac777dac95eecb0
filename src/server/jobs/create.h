/* Makes jobs from requests: in memory, in the store, and among the live ones. */
#ifndef SERVER_JOBS_CREATE_H
#define SERVER_JOBS_CREATE_H

#include "server/jobs/rules.h"
#include "server/yard.h"

/* A job of the request, which nobody knows of yet. */
struct live_job *create_job(const struct spec *s, usec_t submitted);
/* The state of a dependency, and that of the job that it is on. */
int create_look_at_dep(struct yard *y, const struct live_dep *dep, enum dep_state *out,
                       enum job_state *on, struct err *err);
/* Writes the job and its dependencies. Its submission is set; its id is, or is chosen. `array`
 * is as in a row. */
int create_write(struct yard *y, struct live_job *j, int64_t array, struct err *err);
/* Adds a job that was written to the live ones. eligible_offer() follows. */
void create_register(struct yard *y, struct live_job *j);

#endif
