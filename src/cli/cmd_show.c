/* trainyard show JOB...: prints all that is known about a job, or an overview of an array. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/array_details.h"
#include "cli/commands.h"
#include "cli/job_choice.h"
#include "cli/job_details.h"
#include "cli/job_list.h"
#include "cli/member.h"
#include "cli/watch.h"
#include "cli/wire_out.h"

static int add_job(const struct args *args, struct server_link *l, const json_t *brief,
                   const struct job_details_look *look, struct str *out, struct err *err)
{
    char path[48];
    snprintf(path, sizeof path, "/jobs/%lld%s", (long long)member_integer(brief, "id"),
             args_get(args, "env") ? "?env=true" : "");
    json_auto_t *job = NULL;
    if (server_link_get(l, path, &job, err) < 0)
        return -1;
    if (args_get(args, "json")) {
        wire_out_line(job, out);
        return 0;
    }
    str_add(out, out->n ? "\n" : "");
    job_details_add(job, look, out);
    return 0;
}

/* An array as one, unless the output is for programs. */
static int add_operand(const struct args *args, struct server_link *l, const char *operand,
                       const struct job_details_look *look, struct str *out, struct err *err)
{
    struct job_list_query q = {.select = operand, .all = true};
    json_auto_t *jobs = NULL;
    if (job_list_get(l, &q, &jobs, NULL, err) < 0)
        return -1;
    if (!json_array_size(jobs))
        return err_set(err, ERR_NOT_FOUND, "no job matches '%s'", operand);
    if (!args_get(args, "json") && array_details_apply(jobs)) {
        str_add(out, out->n ? "\n" : "");
        array_details_add(jobs, look, out);
        return 0;
    }
    for (size_t i = 0; i < json_array_size(jobs); i++)
        if (add_job(args, l, json_array_get(jobs, i), look, out, err) < 0)
            return -1;
    return 0;
}

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct args *args = ctx;
    struct job_details_look look = {view->now, view->width, view->colours};
    for (size_t i = 0; i < args->operands.n; i++)
        if (add_operand(args, l, args->operands.at[i], &look, out, err) < 0)
            return -1;
    return 0;
}

static int run(const struct args *args)
{
    return watch_run(args, draw, (void *)args);
}

static const struct option options[] = {
    OPTION_WATCH_OPERANDS,
    OPTION_JSON("print the whole job, as the API returns it"),
    {"env", 0, NULL, "with --json: the values of its variables (--env), not only their names",
     false},
    OPTION_SERVER,
    {},
};

const struct command command_show = {
    .name = "show",
    .summary = "Show all that is known about a job",
    .operands = "JOB...",
    .details = JOB_CHOICE_DETAILS " If several jobs have the same name, the newest is meant.",
    .options = options,
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
