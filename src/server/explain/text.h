/* Phrases and reasons. */
#ifndef SERVER_EXPLAIN_TEXT_H
#define SERVER_EXPLAIN_TEXT_H

#include "server/explain/explanation.h"

/* "job 3 (big)" */
void phrase_job(struct str *out, const struct live_job *j);
/* The same for one that may be over; "job 3" when nothing is known of it. */
void phrase_job_id(struct str *out, struct yard *y, int64_t id);
/* "2 CPUs", "1 GPU", "0.5 CPUs" */
void phrase_units(struct str *out, unsigned pool, units_t n);
/* "12 seconds", "2 minutes", "1.5 hours" */
void phrase_span(struct str *out, usec_t span);
/* "1 job", "3 jobs": of what is counted with an s. */
void phrase_count(struct str *out, uint64_t n, const char *what);

/* Adds a reason; the sentence is emptied. `jobs` (may be NULL) is a list of the ids it
 * names, and is taken. */
void explain_reason(struct explanation *x, const char *code, struct str *sentence, json_t *jobs);
/* Adds what the policies think of it. */
void explain_standing(struct explanation *x);
void explain_free(struct explanation *x, struct str *sentence);
/* Makes the first letter a capital: a sentence may begin with "job". */
void explain_capitalise(struct str *s);
/* The list of one id. */
json_t *explain_one(int64_t id);

#endif
