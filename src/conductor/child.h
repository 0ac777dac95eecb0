/* Starts the job's command. */
#ifndef CONDUCTOR_CHILD_H
#define CONDUCTOR_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "conductor/group.h"
#include "protocol/launch_spec.h"

struct child {
    pid_t pid;
    int output; /* the read end of its stdout and stderr; non-blocking */
    int report; /* reports of failed steps, see child_read_report; non-blocking */
};

/* The steps before exec. If one up to CHILD_NICE fails, the job runs without it. */
enum child_step { CHILD_CGROUP, CHILD_CPUS, CHILD_NICE, CHILD_SETUP, CHILD_WORKDIR, CHILD_EXEC };

struct child_report {
    enum child_step step;
    int why;      /* errno */
    size_t group; /* for CHILD_CGROUP: index of the group */
};

/* Starts the command in a session of its own, with its cgroups, CPUs (if no cgroup limits them),
 * priority and working directory, and stdin from /dev/null. Fails only if no process can be
 * created; later failures are reported through the pipe. Marks the cgroups as joined; a report
 * undoes that. */
int child_start(const struct launch_spec *spec, struct group_set *cgroups, struct child *out,
                struct err *err);

/* Reads the next report. 1: *out is filled. 0: none is available now. -1: end of the pipe; the
 * command runs, unless a report said otherwise. */
int child_read_report(const struct child *c, struct child_report *out);

/* Whether a failure of this step means that the command does not run. */
bool child_is_fatal(const struct child_report *r);
/* The failure in words, for users. */
void child_describe(const struct child_report *r, const struct launch_spec *spec, char *text,
                    size_t size);

#endif
