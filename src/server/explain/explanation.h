/* An explanation in the making, which the files of this folder add to. */
#ifndef SERVER_EXPLAIN_EXPLANATION_H
#define SERVER_EXPLAIN_EXPLANATION_H

#include <jansson.h>

#include "server/yard.h"

struct explanation {
    struct yard *y;
    const struct live_job *j; /* NULL when it is over */
    const struct task *t;     /* the engine's view of it; NULL when it has none */
    usec_t now;               /* engine time */
    usec_t wall;              /* the same by the wall clock */
    struct str summary;
    json_t *reasons, *ahead, *frees;
    json_t *start; /* NULL = it has started */
};

#endif
