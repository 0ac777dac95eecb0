/* trainyard cancel JOB...: cancels jobs. */
#include "base/time.h"
#include "cli/commands.h"
#include "cli/job_action.h"

static int run(const struct args *args)
{
    const char *grace = args_get(args, "grace");
    json_auto_t *body = json_object();
    struct job_action action = {.method = "POST",
                                .name = "cancel",
                                .body = body,
                                .all = args_get(args, "all"),
                                .of = JOB_CHOICE_ACTIVE};
    usec_t time;
    struct err err;
    if (grace && time_parse(grace, &time, &err) < 0) {
        (void)err_prefix(&err, "--grace");
        return command_fail(args->command, &err);
    }
    if (grace)
        json_object_set_new(body, "grace", json_string(grace));
    return job_action_run(args, &action);
}

static const struct option options[] = {
    {"all", 'a', NULL, "cancel every job that is queued, held or running", false},
    {"grace", 'g', "TIME", "time between SIGTERM and SIGKILL (default: the job's grace)", false},
    JOB_ACTION_OPTIONS,
    {},
};

const struct command command_cancel = {
    .name = "cancel",
    .summary = "Cancel jobs",
    .operands = "JOB...",
    .details =
        "A waiting job leaves the queue. All processes of a running job are sent SIGTERM, and\n"
        "SIGKILL when the grace is over.\n\n" JOB_CHOICE_DETAILS,
    .examples = "  trainyard cancel 12 13\n"
                "  trainyard cancel train --grace 10s\n"
                "  trainyard cancel 'sweep[3]' 40-60\n"
                "  trainyard cancel --state queued --name 'eval*'",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
