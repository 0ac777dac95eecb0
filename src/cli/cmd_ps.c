/* trainyard ps: lists jobs as a table, as ids or as JSON. */
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/job_choice.h"
#include "cli/job_grid.h"
#include "cli/job_list.h"
#include "cli/member.h"
#include "cli/watch.h"
#include "cli/wire_out.h"

enum { BAR = 10, SHOWN = 100 };

struct request {
    const struct args *args;
    struct job_list_query query;
    bool json, quiet, wide;
};

static void add_ids(const json_t *jobs, struct str *out)
{
    for (size_t i = 0; i < json_array_size(jobs); i++)
        str_addf(out, "%lld\n", (long long)member_integer(json_array_get(jobs, i), "id"));
}

static void add_table(const struct request *r, const json_t *jobs, const struct watch_view *view,
                      struct str *out)
{
    struct grid t;
    struct job_grid_look look = {view->now, view->terminal ? BAR : 0, r->wide};
    struct grid_look shape = {.width = view->width, .colours = view->colours};
    job_grid_fill(jobs, &look, &t);
    grid_draw(&t, &shape, out);
    grid_done(&t);
}

/* Those of each operand, or all of them. */
static int get_jobs(const struct request *r, struct server_link *l, json_t **out, bool *more,
                    struct err *err)
{
    struct job_list_query q = r->query;
    if (!r->args->operands.n)
        return job_list_get(l, &q, out, more, err);
    *out = json_array();
    for (size_t i = 0; i < r->args->operands.n; i++) {
        json_auto_t *jobs = NULL;
        bool rest;
        q.select = r->args->operands.at[i];
        if (job_list_get(l, &q, &jobs, &rest, err) < 0)
            return -1;
        json_array_extend(*out, jobs);
        *more |= rest;
    }
    return 0;
}

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct request *r = ctx;
    json_auto_t *jobs = NULL;
    bool more = false;
    if (get_jobs(r, l, &jobs, &more, err) < 0)
        return -1;
    if (r->json) {
        wire_out_lines(jobs, out);
    } else if (r->quiet) {
        add_ids(jobs, out);
    } else {
        add_table(r, jobs, view, out);
        if (more)
            str_addf(out, "… and more; --limit 0 shows all\n");
    }
    return 0;
}

static int get_request(const struct args *a, struct request *r, struct err *err)
{
    const char *limit = args_get(a, "limit");
    int64_t number = args_get(a, "all") ? SHOWN : 0;
    if (limit && str_parse_int(limit, 0, INT32_MAX, &number, err) < 0)
        return err_prefix(err, "--limit");
    if (args_get(a, "name") && a->operands.n)
        return err_set(err, ERR_INVALID, "give either JOB or --name, not both");
    if (args_get(a, "state") && job_list_check_states(args_get(a, "state"), err) < 0)
        return -1;
    *r = (struct request){
        .args = a,
        .query = {.state = args_get(a, "state"),
                  .name = args_get(a, "name"),
                  .user = args_get(a, "user"),
                  .all = args_get(a, "all") || a->operands.n,
                  .failed = !args_get(a, "json") && !args_get(a, "quiet"),
                  .newest = !a->operands.n && (args_get(a, "all") || args_get(a, "state")),
                  .fold = !a->operands.n && !args_get(a, "json") && !args_get(a, "quiet") &&
                          !args_get(a, "members"),
                  .limit = (size_t)number},
        .json = args_get(a, "json"),
        .quiet = args_get(a, "quiet"),
        .wide = args_get(a, "wide"),
    };
    return 0;
}

static int run(const struct args *args)
{
    struct request r;
    struct err err;
    if (get_request(args, &r, &err) < 0)
        return command_fail(args->command, &err);
    return watch_run(args, draw, &r);
}

static const struct option options[] = {
    {"all", 'a', NULL, "also list jobs that are over, newest first", false},
    {"state", 's', "STATES", "only jobs in these states, such as running,queued", false},
    {"name", 'n', "PATTERN", "only jobs with this name; * matches any text", false},
    {"user", 'u', "USER", "only this user's jobs", false},
    {"limit", 'l', "N", "list at most N jobs; 0 = all (default 100 with --all, else all)", false},
    {"members", 'm', NULL, "list the jobs of arrays one by one", false},
    {"wide", 'W', NULL, "show more columns", false},
    OPTION_WATCH,
    OPTION_JSON("print one object per line"),
    OPTION_QUIET("print only the ids"),
    OPTION_SERVER,
    {},
};

const struct command command_ps = {
    .name = "ps",
    .summary = "List jobs that are queued, held or running, or have just failed",
    .operands = "[JOB...]",
    .details =
        "With JOB, only these jobs are listed, also when they are over.\n\n" JOB_CHOICE_DETAILS
        "\n\n"
        "The table has one line for an array, with the number of its jobs in each state. JOB,\n"
        "--members, --json and --quiet list them one by one.\n\n"
        "CPUS is what a job holds of what it can use. TIME is how long it has run or waited. ETA\n"
        "is the time until its expected end, estimated from its progress. The table also has jobs\n"
        "that failed within the last hour (serve --show-failed), with ERROR, the line of their\n"
        "output that tells why.",
    .examples = "  trainyard ps\n"
                "  trainyard ps sweep\n"
                "  trainyard ps --all --state failed,timeout\n"
                "  trainyard ps --json | jq -r 'select(.progress.loss < 0.1) | .id'",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
