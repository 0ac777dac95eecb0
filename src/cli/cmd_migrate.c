/* trainyard migrate JOB [NODE]: moves a running job to another node. */
#include "cli/commands.h"
#include "cli/job_action.h"

static int run(const struct args *args)
{
    struct args job = *args;
    json_auto_t *body = json_object();
    if (args->operands.n > 1)
        json_object_set_new(body, "node", json_string(args->operands.at[1]));
    job.operands.n = 1;
    struct job_action action = {
        .method = "POST", .name = "migrate", .body = body, .of = JOB_CHOICE_ACTIVE};
    return job_action_run(&job, &action);
}

static const struct option options[] = {
    JOB_ACTION_OPTIONS,
    {},
};

const struct command command_migrate = {
    .name = "migrate",
    .summary = "Move a running job to another node, with its checkpoint",
    .operands = "JOB [NODE]",
    .details =
        "The job gets its checkpoint signal and stops. Its checkpoints are brought to the other\n"
        "node, and it continues there as its next attempt. Without NODE, the one with the most\n"
        "free CPUs is taken. A job without a checkpoint (--checkpoint-dir, --checkpoint-signal)\n"
        "is refused: it would lose its work.",
    .examples = "  trainyard migrate train gpu2\n"
                "  trainyard migrate 12",
    .options = options,
    .min_operands = 1,
    .max_operands = 2,
    .completes = "JOB|NODE",
    .run = run,
};
