/* Verbs that ask the server to do something to some jobs, one after the other. */
#ifndef CLI_JOB_ACTION_H
#define CLI_JOB_ACTION_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/command.h"
#include "cli/server_link.h"

#define JOB_ACTION_OPTIONS                                                                         \
    OPTION_JSON("the jobs as they are then, one object a line"),                                   \
        OPTION_QUIET("print nothing when it works"), OPTION_SERVER

struct job_action {
    const char *method; /* "POST" */
    const char *name;   /* behind /jobs/JOB/; NULL = the job itself */
    const json_t *body;
    bool all; /* all jobs that are not over, not those among the operands */
};

/* Does it to every job, and says how each is then. One that fails is named on
 * stderr and the others still get their turn; the exit code is the first failure's. */
int job_action_run(const struct args *args, const struct job_action *action);

#endif
