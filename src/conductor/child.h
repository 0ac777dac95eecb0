/* The start of the job's command. */
#ifndef CONDUCTOR_CHILD_H
#define CONDUCTOR_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "conductor/group.h"
#include "protocol/launch_spec.h"

struct child {
    pid_t pid;
    int output; /* what it writes to stdout and stderr; non-blocking */
    int report; /* what became of the start: see child_read_report; non-blocking */
};

/* A step on the way to exec; those up to CHILD_NICE may fail and the job runs
 * without. */
enum child_step { CHILD_CGROUP, CHILD_CPUS, CHILD_NICE, CHILD_SETUP, CHILD_WORKDIR, CHILD_EXEC };

struct child_report {
    enum child_step step;
    int why;      /* errno */
    size_t group; /* of CHILD_CGROUP: its index */
};

/* Starts the command: session of its own, cgroups, CPUs if no cgroup bounds them,
 * priority, working directory, stdin from /dev/null. Fails only when no process
 * can be made; what fails in it later is reported. Marks the cgroups as joined:
 * a report takes that back. */
int child_start(const struct launch_spec *spec, struct group_set *cgroups, struct child *out,
                struct err *err);

/* Reads the next report: 1 = *out is filled, 0 = there is none now, -1 = the pipe
 * is at its end: the command was exec'ed, if no report said otherwise. */
int child_read_report(const struct child *c, struct child_report *out);

/* Whether the step's failure ends the start. */
bool child_is_fatal(const struct child_report *r);
/* In words, for people. */
void child_describe(const struct child_report *r, const struct launch_spec *spec, char *text,
                    size_t size);

#endif
