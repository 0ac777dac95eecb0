/* Phrases and reasons. */
#ifndef SERVER_EXPLAIN_TEXT_H
#define SERVER_EXPLAIN_TEXT_H

#include "server/explain/explanation.h"

/* "job 3 (big)" */
void phrase_job(struct str *out, const struct live_job *j);
/* The same for a job that may have ended; "job 3" if it is unknown. */
void phrase_job_id(struct str *out, struct yard *y, int64_t id);
/* "2 CPUs", "1 GPU", "0.5 CPUs" */
void phrase_units(struct str *out, unsigned pool, units_t n);
/* "12 seconds", "2 minutes", "1.5 hours" */
void phrase_span(struct str *out, usec_t span);
/* "1 job", "3 jobs": for nouns whose plural ends in s. */
void phrase_count(struct str *out, uint64_t n, const char *what);

/* Adds a reason and empties the sentence. Takes `jobs` (may be NULL), the ids that the
 * sentence names. */
void explain_reason(struct explanation *x, const char *code, struct str *sentence, json_t *jobs);
/* Adds that the job was preempted last, or is paused, by whom and what it lost; or nothing. */
void explain_preemption(struct explanation *x);
/* Adds what the policies say about the job, as reasons. */
void explain_standing(struct explanation *x);
/* Adds something that would let the job start or grow, and empties the sentence. */
void explain_free(struct explanation *x, struct str *sentence);
/* Sets the expected start, from now (USEC_NEVER = unknown), and what it rests on. */
void explain_start(struct explanation *x, usec_t in, const char *basis);
/* Capitalises the first letter: a sentence may begin with "job". */
void explain_capitalise(struct str *s);
/* A list with one id. */
json_t *explain_one(int64_t id);

#endif
