/* trainyard resize JOB... --cpus N|MIN-MAX: changes how many CPUs jobs can use. */
#include "cli/commands.h"
#include "cli/job_action.h"

static int run(const struct args *args)
{
    const char *cpus = args_get(args, "cpus");
    bool reset = args_get(args, "reset");
    struct err err;
    if (!cpus == !reset) {
        err_set(&err, ERR_INVALID,
                cpus ? "give either --cpus or --reset, not both"
                     : "missing --cpus N or --cpus MIN-MAX");
        return command_fail(args->command, &err);
    }
    json_auto_t *body = json_object();
    json_object_set_new(body, "cpus", cpus ? json_string(cpus) : json_null());
    struct job_action action = {
        .method = "POST", .name = "resize", .body = body, .of = JOB_CHOICE_ACTIVE};
    return job_action_run(args, &action);
}

static const struct option options[] = {
    {"cpus", 'c', "N|MIN-MAX", "exactly N CPUs, or a range from which the policy chooses", false},
    {"reset", 0, NULL, "restore the range that was submitted", false},
    JOB_ACTION_OPTIONS,
    {},
};

const struct command command_resize = {
    .name = "resize",
    .summary = "Change how many CPUs jobs can use",
    .operands = "JOB...",
    .details = JOB_CHOICE_DETAILS,
    .examples = "  trainyard resize train --cpus 2\n"
                "  trainyard resize 12 --cpus 1-4\n"
                "  trainyard resize 12 --reset",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
