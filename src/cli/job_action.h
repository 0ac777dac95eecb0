/* Commands that ask the server to act on some jobs, one after the other. */
#ifndef CLI_JOB_ACTION_H
#define CLI_JOB_ACTION_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/job_choice.h"
#include "cli/server_link.h"

#define JOB_ACTION_OPTIONS                                                                         \
    JOB_CHOICE_OPTIONS, {"yes", 'y', NULL, "do not ask when there are many jobs", false},          \
        OPTION_JSON("print the jobs, one object per line"),                                        \
        OPTION_QUIET("print nothing on success"), OPTION_SERVER

struct job_action {
    const char *method; /* "POST" */
    const char *name;   /* after /jobs/JOB/; NULL = the job itself */
    const json_t *body;
    bool all; /* all jobs that are not over, instead of operands */
    enum job_choice_of of;
    /* Adds what there is to say about a job that was acted on; NULL = nothing. Not called with
     * --json or --quiet. */
    void (*after)(const struct args *args, struct server_link *l, const char *job);
};

/* Acts on every job and prints its new state. A failure is reported on stderr, and the other
 * jobs still get their turn; the exit code is that of the first failure. */
int job_action_run(const struct args *args, const struct job_action *action);

#endif
