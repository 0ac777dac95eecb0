/* The explanation that the files of this folder add to. */
#ifndef SERVER_EXPLAIN_EXPLANATION_H
#define SERVER_EXPLAIN_EXPLANATION_H

#include <jansson.h>

#include "server/yard.h"

struct explanation {
    struct yard *y;
    const struct live_job *j; /* NULL if it has ended */
    const struct task *t;     /* the engine's view of the job; NULL if it has none */
    usec_t now;               /* engine time */
    usec_t wall;              /* the same instant on the wall clock */
    struct str summary;
    json_t *reasons, *ahead, *frees;
    json_t *start; /* NULL if it has started */
};

#endif
