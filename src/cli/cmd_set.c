/* trainyard set JOB...: changes priority, deadline or time limit. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/job_action.h"
#include "cli/member.h"

/* A duration, or null for "none". */
static int set_duration(const struct args *args, const char *option, const char *field,
                        json_t *body, struct err *err)
{
    const char *text = args_get(args, option);
    usec_t time;
    if (!text)
        return 0;
    bool none = !strcmp(text, "none");
    if (!none && time_parse(text, &time, err) < 0)
        return err_prefix(err, "--%s", option);
    if (!none && time <= 0)
        return err_set(err, ERR_INVALID, "--%s: '%s' must be more than 0; `--%s none` removes it",
                       option, text, option);
    json_object_set_new(body, field, none ? json_null() : json_string(text));
    return 0;
}

static int get_body(const struct args *args, json_t *body, struct err *err)
{
    const char *priority = args_get(args, "priority");
    int64_t number;
    if (priority) {
        if (str_parse_int(priority, INT32_MIN, INT32_MAX, &number, err) < 0)
            return err_prefix(err, "--priority");
        json_object_set_new(body, "priority", json_integer(number));
    }
    const char *at = args_get(args, "deadline-at");
    if (at && args_get(args, "deadline"))
        return err_set(err, ERR_INVALID, "give either --deadline or --deadline-at, not both");
    if (at)
        json_object_set_new(body, "deadline_at",
                            strcmp(at, "none") ? json_string(at) : json_null());
    if (set_duration(args, "deadline", "deadline", body, err) < 0 ||
        set_duration(args, "time-limit", "time_limit", body, err) < 0)
        return -1;
    if (json_object_size(body) == 0)
        return err_set(
            err, ERR_INVALID,
            "nothing to set; give --priority, --deadline, --deadline-at or --time-limit");
    return 0;
}

/* A new deadline is answered as `submit` does: whether it can be met, and with what. */
static void tell_deadline(const struct args *args, struct server_link *l, const char *job)
{
    AUTO_FREE char *path = server_link_job_path(job, "estimate");
    json_auto_t *answer = NULL;
    struct err err;
    if ((!args_get(args, "deadline") && !args_get(args, "deadline-at")) ||
        server_link_get(l, path, &answer, &err) < 0) /* it may have ended */
        return;
    const char *text = member_text(answer, "deadline");
    if (*text)
        fprintf(strstr(text, "cannot be met") ? stderr : stdout, "%sjob %s: %s\n",
                strstr(text, "cannot be met") ? "warning: " : "", job, text);
}

static int run(const struct args *args)
{
    json_auto_t *body = json_object();
    struct job_action action = {.method = "PATCH", .body = body, .of = JOB_CHOICE_ACTIVE};
    action.after = tell_deadline;
    struct err err;
    if (get_body(args, body, &err) < 0)
        return command_fail(args->command, &err);
    return job_action_run(args, &action);
}

static const struct option options[] = {
    {"priority", 'p', "N", "jobs with a higher priority go first", false},
    {"deadline", 'd', "TIME|none", "it should end within this time from now", false},
    {"deadline-at", 0, "WHEN|none", "it should end by this time, such as 2030-01-31T18:00", false},
    {"time-limit", 't', "TIME|none", "stop it after running this long", false},
    JOB_ACTION_OPTIONS,
    {},
};

const struct command command_set = {
    .name = "set",
    .summary = "Change the priority, deadline or time limit of jobs",
    .operands = "JOB...",
    .details = JOB_CHOICE_DETAILS,
    .examples = "  trainyard set train --priority 5 --deadline 2h\n"
                "  trainyard set 12 13 --time-limit none",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
