/* Lists of jobs, fetched from the server page by page. */
#ifndef CLI_JOB_LIST_H
#define CLI_JOB_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/server_link.h"

struct job_list_query {
    const char *select;              /* what the user calls the jobs; NULL = all of them */
    const char *state, *name, *user; /* filters; NULL = any */
    bool all;                        /* also jobs that are over */
    bool failed;                     /* also jobs that failed a short while ago */
    bool newest;                     /* newest first; otherwise oldest first */
    bool fold;                       /* one entry for an array, with `fold` */
    size_t limit;                    /* 0 = all */
};

/* Makes an array of the jobs, which the caller owns; *more (may be NULL) is set when there are
 * others. */
int job_list_get(struct server_link *l, const struct job_list_query *q, json_t **out, bool *more,
                 struct err *err);

/* Whether the text is a list of states; the error names the option --state. */
int job_list_check_states(const char *states, struct err *err);

#endif
