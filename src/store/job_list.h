/* Lists of jobs, in pages. */
#ifndef STORE_JOB_LIST_H
#define STORE_JOB_LIST_H

#include <stdbool.h>

#include "store/jobs.h"

struct job_filter {
    uint32_t states;         /* bits by job_state; 0 = any */
    usec_t failed_since;     /* also those that failed since then, by the wall clock; 0 = none */
    const char *name, *user; /* NULL = any; the name is a pattern, see str_glob() */
    const char *group;       /* exactly this one; NULL = any */
    int64_t array;           /* 0 = any */
    const int64_t *index;    /* in the array; NULL = any */
    int64_t first, last;     /* ids; 0 = any */
    int64_t after;           /* cursor: ids below this one (newest first); 0 = from the newest */
    bool oldest_first;       /* then `after` means ids above it */
    uint32_t limit;          /* 0 = no limit */
};
/* Lists jobs by id. A job that changes between two pages is on at most one of them. */
int store_job_list(struct store *s, const struct job_filter *f, store_job_fn fn, void *ctx,
                   struct err *err);

#endif
