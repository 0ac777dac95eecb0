/* Finds the jobs that a user names. */
#ifndef SERVER_JOBS_FIND_H
#define SERVER_JOBS_FIND_H

#include "server/yard.h"
#include "store/job_list.h"

/* One job. `text` is a number, ARRAY_INDEX, a name, NAME[INDEX] or a unique prefix of a name. If
 * several jobs have the name, the newest is found. Fails with ERR_NOT_FOUND, or ERR_CONFLICT and
 * the candidates. */
int find_job(struct yard *y, const char *text, int64_t *id, struct err *err);

/* What a user means by jobs. Numbers and names are as for find_job(), but the first number of an
 * array and its name mean the whole array. Also FIRST-LAST, a range of numbers, and a pattern of
 * names with * or ?. */
struct found {
    int64_t array, first, last, index; /* as in struct job_filter */
    bool one;                          /* only the job with `index` in the array */
    const char *pattern;               /* of names, `text` itself; NULL = none */
};
int find_jobs(struct yard *y, const char *text, struct found *out, struct err *err);
/* Narrows the filter to them. `f` must outlive it. */
void find_narrow(const struct found *f, struct job_filter *filter);

#endif
