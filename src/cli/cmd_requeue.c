/* trainyard requeue JOB...: queues jobs again. */
#include "cli/commands.h"
#include "cli/job_action.h"
#include "wire/spec_export.h"
#include "wire/spec_json.h"

extern char **environ;

static int run(const struct args *args)
{
    struct spec s;
    spec_init(&s);
    (void)spec_export(&s, environ); /* a job that has ended needs it again */
    json_auto_t *body = spec_to_json(&s);
    spec_done(&s);
    if (args_get(args, "hold"))
        json_object_set_new(body, "hold", json_true());
    struct job_action action = {.method = "POST", .name = "requeue", .body = body};
    return job_action_run(args, &action);
}

static const struct option options[] = {
    {"hold", 'H', NULL, "also hold them until they are released", false},
    JOB_ACTION_OPTIONS,
    {},
};

const struct command command_requeue = {
    .name = "requeue",
    .summary = "Stop running jobs and queue them again, or queue finished jobs again",
    .operands = "JOB...",
    .details =
        "A running job gets its checkpoint signal, is stopped and queued again. A job that is\n"
        "over is queued again as its next attempt, with your environment: what it was submitted\n"
        "with was removed when it ended.\n\n" JOB_CHOICE_DETAILS,
    .examples = "  trainyard requeue train\n"
                "  trainyard requeue --hold 12\n"
                "  trainyard requeue sweep --state failed",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
