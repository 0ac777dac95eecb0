/* Who is ahead of a job. */
#ifndef SERVER_EXPLAIN_AHEAD_H
#define SERVER_EXPLAIN_AHEAD_H

#include "server/explain/explanation.h"

/* Whether the task holds units that the job could use. */
bool explain_holds(const struct explanation *x, uint32_t task);

struct holder {
    const struct live_job *j;
    usec_t end; /* USEC_NEVER = nobody can tell */
};
struct holders {
    struct holder *at;
    size_t n, cap;
};
/* All of them, those first that end soonest. VEC_DONE() frees the list. */
struct holders explain_holders(const struct explanation *x);
/* "job 3 (big) has 2 CPUs, job 4 (x) has 1 CPU", those on the node (TASK_NONE = any);
 * nothing when there are none. Returns the list of their ids. */
json_t *phrase_holders(struct str *out, const struct explanation *x, uint32_t node);
/* Lists them, then those before the job in the queue, 10 at most. Returns how many are
 * before it in the queue. */
uint32_t explain_ahead(struct explanation *x);

#endif
