/* trainyard release JOB...: lets held jobs start. */
#include "cli/commands.h"
#include "cli/job_action.h"

static int run(const struct args *args)
{
    json_auto_t *body = json_object();
    struct job_action action = {
        .method = "POST", .name = "release", .body = body, .of = JOB_CHOICE_ACTIVE};
    return job_action_run(args, &action);
}

static const struct option options[] = {JOB_ACTION_OPTIONS, {}};

const struct command command_release = {
    .name = "release",
    .summary = "Let held jobs start",
    .operands = "JOB...",
    .details = JOB_CHOICE_DETAILS,
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
