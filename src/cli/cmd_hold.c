/* trainyard hold JOB...: keeps jobs from starting. */
#include "cli/commands.h"
#include "cli/job_action.h"

static int run(const struct args *args)
{
    json_auto_t *body = json_object();
    struct job_action action = {
        .method = "POST", .name = "hold", .body = body, .of = JOB_CHOICE_ACTIVE};
    return job_action_run(args, &action);
}

static const struct option options[] = {JOB_ACTION_OPTIONS, {}};

const struct command command_hold = {
    .name = "hold",
    .summary = "Keep waiting jobs from starting until they are released",
    .operands = "JOB...",
    .details =
        "To hold a running job, stop it with `trainyard requeue --hold`.\n\n" JOB_CHOICE_DETAILS,
    .examples = "  trainyard hold train\n  trainyard hold --user alice --state queued",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
