/* Which jobs are ahead of a job. */
#ifndef SERVER_EXPLAIN_AHEAD_H
#define SERVER_EXPLAIN_AHEAD_H

#include "server/explain/explanation.h"

/* Whether the task holds units that the job could use. */
bool explain_holds(const struct explanation *x, uint32_t task);

struct holder {
    const struct live_job *j;
    usec_t end; /* expected; USEC_NEVER = unknown */
};
struct holders {
    struct holder *at;
    size_t n, cap;
};
/* All jobs that hold units which the job could use, in the order of their ends. VEC_DONE()
 * frees the list. */
struct holders explain_holders(const struct explanation *x);
/* "job 3 (big) has 2 CPUs, job 4 (x) has 1 CPU": the holders on the node (TASK_NONE = any).
 * Adds nothing if there are none. Returns the list of their ids. */
json_t *phrase_holders(struct str *out, const struct explanation *x, uint32_t node);
/* Lists the holders, then the jobs ahead of it in the queue, at most 10 in all. Returns how
 * many are ahead of it in the queue. */
uint32_t explain_ahead(struct explanation *x);

#endif
