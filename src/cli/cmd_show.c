/* trainyard show JOB...: prints all that is known about a job. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/job_details.h"
#include "cli/watch.h"
#include "cli/wire_out.h"

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct args *args = ctx;
    struct job_details_look look = {view->now, view->width, view->colours};
    for (size_t i = 0; i < args->operands.n; i++) {
        AUTO_FREE char *path = server_link_job_path(args->operands.at[i], NULL);
        json_auto_t *job = NULL;
        if (server_link_get(l, path, &job, err) < 0)
            return -1;
        if (args_get(args, "json")) {
            wire_out_line(job, out);
            continue;
        }
        str_add(out, i ? "\n" : "");
        job_details_add(job, &look, out);
    }
    return 0;
}

static int run(const struct args *args)
{
    return watch_run(args, draw, (void *)args);
}

static const struct option options[] = {
    OPTION_WATCH_OPERANDS,
    OPTION_JSON("print the whole job, as the API returns it"),
    OPTION_SERVER,
    {},
};

const struct command command_show = {
    .name = "show",
    .summary = "Show all that is known about a job",
    .operands = "JOB...",
    .details =
        "JOB is a job's number, its name (the newest job of that name), or a unique prefix of its\n"
        "name.",
    .options = options,
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
