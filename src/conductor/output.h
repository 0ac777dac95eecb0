/* What a job writes to stdout and stderr: a pipe, or a terminal. */
#ifndef CONDUCTOR_OUTPUT_H
#define CONDUCTOR_OUTPUT_H

#include "protocol/launch_spec.h"

struct output {
    int in;  /* to read from; non-blocking */
    int out; /* the job's stdout and stderr */
};

/* Both ends are close-on-exec. */
int output_open(const struct launch_spec *spec, struct output *out, struct err *err);

/* Preloads the library that makes C programs print line by line, if it exists and the job does
 * not object. */
void output_preload(struct launch_spec *spec, struct arena *a);

/* Called in the job's process after its stdout is set and before exec: tells the library which
 * pipe it is about. */
void output_name_pipe(const struct launch_spec *spec);

#endif
