/* What the user wants to submit: a command with options, a job file in YAML, or a
 * script, completed with what only the submitter knows (who, where, environment). */
#ifndef CLI_JOB_REQUEST_H
#define CLI_JOB_REQUEST_H

#include <jansson.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/server_link.h"

#define JOB_REQUEST_OPERANDS "-- COMMAND... | FILE [ARGUMENT...]"
#define JOB_REQUEST_DETAILS                                                                        \
    "COMMAND runs here, with your environment. FILE is a job file in YAML, a script whose\n"       \
    "#TRAINYARD and #SBATCH lines are honoured (its text is kept: later changes do not\n"          \
    "matter), or - for either on the standard input. Options go before what a file says."

/* Makes an array of job requests of the words of a command with the options of all
 * fields of a job. What has no effect is said on stderr. */
int job_request_read(const struct args *args, json_t **jobs, struct err *err);

/* Sends them, all or nothing; *accepted is the array of the server's answers. */
int job_request_send(struct server_link *l, json_t *jobs, json_t **accepted, struct err *err);

#endif
