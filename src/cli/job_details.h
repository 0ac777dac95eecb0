/* All that is known about one job, as text. Pure. */
#ifndef CLI_JOB_DETAILS_H
#define CLI_JOB_DETAILS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/time.h"

struct job_details_look {
    usec_t now;
    size_t width; /* 0 = any */
    bool colours;
};

/* Appends lines of text that is safe for a terminal. */
void job_details_add(const json_t *job, const struct job_details_look *look, struct str *out);

#endif
