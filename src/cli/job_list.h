/* Lists of jobs: what to ask the server for, and its answers page by page. */
#ifndef CLI_JOB_LIST_H
#define CLI_JOB_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/server_link.h"

struct job_list_query {
    const char *state, *name, *user; /* filters; NULL = any */
    bool all;                        /* also those that are over */
    bool newest;                     /* the newest first; else the oldest */
    size_t limit;                    /* 0 = all */
};

/* Adds the jobs to a new array; *more (may be NULL) says that there are others. The
 * caller owns *out. */
int job_list_get(struct server_link *l, const struct job_list_query *q, json_t **out, bool *more,
                 struct err *err);

#endif
