/* trainyard release JOB...: lets held jobs start. */
#include "cli/commands.h"
#include "cli/job_action.h"

static int run(const struct args *args)
{
    json_auto_t *body = json_object();
    struct job_action action = {.method = "POST", .name = "release", .body = body};
    return job_action_run(args, &action);
}

static const struct option options[] = {JOB_ACTION_OPTIONS, {}};

const struct command command_release = {
    .name = "release",
    .summary = "Let held jobs start",
    .operands = "JOB...",
    .options = options,
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
