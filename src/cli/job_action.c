/* Owns the loop over the jobs of a command. */
#include "cli/job_action.h"

#include <stdio.h>

#include "base/mem.h"
#include "cli/job_list.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/wire_out.h"

static int act(const struct args *args, struct server_link *l, const struct job_action *action,
               const char *job, struct err *err)
{
    AUTO_FREE char *path = server_link_job_path(job, action->name);
    json_auto_t *answer = NULL;
    struct str out = {0};
    if (server_link_call(l, action->method, path, action->body, &answer, err) < 0)
        return -1;
    if (args_get(args, "json"))
        wire_out_line(answer, &out);
    else if (!args_get(args, "quiet"))
        job_text_add_outcome(answer, &out);
    fputs(out.at ? out.at : "", stdout);
    str_done(&out);
    return 0;
}

/* Acts on a job, or reports the error. Returns false when it makes no sense to go on. */
static bool act_or_say(const struct args *args, struct server_link *l,
                       const struct job_action *action, const char *job, int *code)
{
    struct err err;
    if (act(args, l, action, job, &err) == 0)
        return true;
    int failed = command_fail(args->command, &err);
    if (!*code)
        *code = failed;
    return err.code != ERR_UNREACHABLE;
}

static int act_on_all(const struct args *args, struct server_link *l,
                      const struct job_action *action)
{
    struct job_list_query active = {0};
    json_auto_t *jobs = NULL;
    struct err err;
    int code = 0;
    if (job_list_get(l, &active, &jobs, NULL, &err) < 0)
        return command_fail(args->command, &err);
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        char id[24];
        snprintf(id, sizeof id, "%lld", (long long)member_integer(json_array_get(jobs, i), "id"));
        if (!act_or_say(args, l, action, id, &code))
            break;
    }
    return code;
}

int job_action_run(const struct args *args, const struct job_action *action)
{
    AUTO_LINK struct server_link link = {0};
    struct err err;
    int code = 0;
    if (action->all ? args->operands.n > 0 : args->operands.n == 0) {
        err_set(&err, ERR_INVALID,
                action->all ? "give either JOB or --all, not both" : "missing JOB");
        return command_fail(args->command, &err);
    }
    if (server_link_open(args, NULL, &link, &err) < 0)
        return command_fail(args->command, &err);
    if (action->all)
        return act_on_all(args, &link, action);
    for (size_t i = 0; i < args->operands.n; i++)
        if (!act_or_say(args, &link, action, args->operands.at[i], &code))
            break;
    return code;
}
