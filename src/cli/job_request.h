/* What the user submits: a command with options, a job file in YAML, or a script, completed
 * with what only the submitter knows: directory, environment. */
#ifndef CLI_JOB_REQUEST_H
#define CLI_JOB_REQUEST_H

#include <jansson.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/server_link.h"

#define JOB_REQUEST_OPERANDS "-- COMMAND... | FILE [ARGUMENT...]"
#define JOB_REQUEST_DETAILS                                                                        \
    "COMMAND runs in the current directory with your environment. FILE is a job file in YAML, a\n" \
    "script with #TRAINYARD or #SBATCH lines, or - to read either from standard input. The text\n" \
    "of a script is kept with the job, so later changes to the file have no effect.\n"             \
    "Command-line options override the file."

/* Makes an array of job requests from the options and operands of a command. Warnings about
 * options without effect go to stderr. */
int job_request_read(const struct args *args, json_t **jobs, struct err *err);

/* Submits all of them or none; *accepted is the server's list of jobs. */
int job_request_send(struct server_link *l, json_t *jobs, json_t **accepted, struct err *err);

#endif
