/* The parts of an attempt on several nodes. Each is a struct attempt with its own conductor, row,
 * size and operations; part 0 is the job's current attempt, and `next_part` links the others to
 * it. They start together and are stopped together: when a part fails or is lost, the others are
 * stopped. The attempt is over when all of its parts are. Most attempts have part 0 only. */
#ifndef SERVER_JOBS_GANG_H
#define SERVER_JOBS_GANG_H

#include "server/jobs/attempts.h"

/* Whether the attempt is the job's current one, or a part of it. */
bool gang_has(const struct live_job *j, const struct attempt *a);
/* Adds a part to the current attempt. */
void gang_join(struct attempt *head, struct attempt *part);
/* Parts of the attempt; which of them this is, from 0. */
uint32_t gang_size(const struct attempt *head);
uint32_t gang_rank(const struct attempt *head, const struct attempt *a);
/* CPUs and GPUs of all parts. */
units_t gang_cpus(const struct attempt *head);
units_t gang_gpus(const struct attempt *head);
/* Whether the parts are where the task is, with its sizes. */
bool gang_fits(const struct live_job *j, const struct attempt *head, const struct task *t);

/* A part has ended: ends the others if it should not have. Returns whether that is all; otherwise
 * the attempt is over with it. */
bool gang_end_part(struct yard *y, struct live_job *j, struct attempt *a, const struct ending *end);
/* How the attempt ended, if its parts were stopped because one had ended: replaces the ending of
 * part 0. Returns whether they were. */
bool gang_blame(const struct attempt *head, struct ending *end);

/* Frees the ending that part 0 keeps; NULL is legal. */
void gang_drop_ending(struct ending *end);

/* The address at which parts reach the first one, and a port there. */
const char *gang_address(const struct yard *y, const struct attempt *a);
uint32_t gang_port(const struct attempt *a);
/* A line "ADDRESS slots=N" for each part. */
void gang_add_hosts(const struct yard *y, const struct live_job *j, struct str *out);

#endif
