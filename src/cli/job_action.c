/* Owns the loop over the jobs of a command. */
#include "cli/job_action.h"

#include <stdio.h>

#include "base/mem.h"
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
    if (action->after && !args_get(args, "json") && !args_get(args, "quiet"))
        action->after(args, l, job);
    return 0;
}

/* One of several jobs may end before it is its turn, for example with the job that it
 * depends on. */
static bool is_over_meanwhile(struct server_link *l, const char *id, const struct err *err)
{
    AUTO_FREE char *path = server_link_job_path(id, NULL);
    json_auto_t *job = NULL;
    struct err ignored;
    return err->code == ERR_CONFLICT && server_link_get(l, path, &job, &ignored) == 0 &&
           job_text_over(job);
}

static int act_on_all(const struct args *args, struct server_link *l,
                      const struct job_action *action, const json_t *jobs)
{
    size_t n = json_array_size(jobs);
    int code = 0;
    for (size_t i = 0; i < n; i++) {
        struct err err;
        char id[24];
        snprintf(id, sizeof id, "%lld", (long long)member_integer(json_array_get(jobs, i), "id"));
        if (act(args, l, action, id, &err) == 0 || (n > 1 && is_over_meanwhile(l, id, &err)))
            continue;
        int failed = command_fail(args->command, &err);
        code = code ? code : failed;
        if (err.code == ERR_UNREACHABLE)
            break;
    }
    return code;
}

int job_action_run(const struct args *args, const struct job_action *action)
{
    AUTO_LINK struct server_link link = {0};
    json_auto_t *jobs = NULL;
    struct err err;
    if (action->all && args->operands.n > 0)
        err_set(&err, ERR_INVALID, "give either JOB or --all, not both");
    else if (!action->all && !job_choice_given(args))
        err_set(&err, ERR_INVALID, "missing JOB..., or --state, --user or --name");
    else
        err.code = ERR_OK;
    if (err.code || server_link_open(args, NULL, &link, &err) < 0)
        return command_fail(args->command, &err);
    int code = job_choice_make(args, &link, action->of, &jobs);
    if (!job_choice_confirm(args, json_array_size(jobs))) {
        fprintf(stderr, "Nothing was changed.\n");
        return 1;
    }
    int failed = act_on_all(args, &link, action, jobs);
    return code ? code : failed;
}
