/* trainyard best GROUP: ranks the jobs of a group or an array by their metric. */
#include <math.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/watch.h"
#include "cli/wire_out.h"
#include "http/url.h"

static int get_ranking(const struct args *args, struct server_link *l, json_t **out,
                       struct err *err)
{
    const char *user = args_get(args, "user"), *limit = args_get(args, "limit");
    struct str path = {0};
    str_add(&path, "/best?group=");
    url_add_escaped(&path, args->operands.at[0]);
    if (user) {
        str_add(&path, "&user=");
        url_add_escaped(&path, user);
    }
    if (limit) {
        str_add(&path, "&limit=");
        url_add_escaped(&path, limit);
    }
    int rc = server_link_get(l, path.at, out, err);
    str_done(&path);
    return rc;
}

static void add_number(struct grid *t, double value)
{
    if (isnan(value))
        grid_add(t, COLOUR_NONE, "-");
    else
        grid_addf(t, COLOUR_NONE, "%.6g", value);
}

static void add_row(struct grid *t, const json_t *job)
{
    struct str parameters = {0};
    if (member_has(job, "rank"))
        grid_addf(t, COLOUR_NONE, "%lld", (long long)member_integer(job, "rank"));
    else
        grid_add(t, COLOUR_NONE, "-");
    grid_addf(t, COLOUR_BOLD, "%lld", (long long)member_integer(job, "id"));
    job_text_add_parameters(job, &parameters);
    grid_add(t, COLOUR_NONE, parameters.n ? parameters.at : member_text(job, "name"));
    add_number(t, member_number(job, "value"));
    add_number(t, member_number(job, "step"));
    grid_add(t, job_text_state_colour(job), member_text(job, "state"));
    grid_add(t, COLOUR_NONE, member_text(job, "reason"));
    str_done(&parameters);
}

static void add_table(const json_t *ranking, const struct watch_view *view, struct str *out)
{
    const char *metric = member_text(ranking, "metric");
    const struct grid_column columns[] = {
        {"RANK", true, 0, 0},  {"JOB", true, 0, 0},  {"PARAMETERS", false, 12, 0},
        {"VALUE", true, 0, 0}, {"STEP", true, 0, 2}, {"STATE", false, 0, 0},
        {"WHY", false, 12, 1},
    };
    struct grid_look shape = {.width = view->width, .colours = view->colours};
    const json_t *jobs = json_object_get(ranking, "jobs");
    struct grid t;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(jobs); i++)
        add_row(&t, json_array_get(jobs, i));
    str_addf(out, "%lld jobs", (long long)member_integer(ranking, "members"));
    if (*metric)
        str_addf(out, ", by %s (%s is better)", metric,
                 !strcmp(member_text(ranking, "goal"), "max") ? "more" : "less");
    str_add(out, "\n");
    grid_draw(&t, &shape, out);
    grid_done(&t);
}

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct args *args = ctx;
    json_auto_t *ranking = NULL;
    if (get_ranking(args, l, &ranking, err) < 0)
        return -1;
    const json_t *jobs = json_object_get(ranking, "jobs");
    if (args_get(args, "json"))
        wire_out_line(ranking, out);
    else if (args_get(args, "quiet"))
        for (size_t i = 0; i < json_array_size(jobs); i++)
            str_addf(out, "%lld\n", (long long)member_integer(json_array_get(jobs, i), "id"));
    else
        add_table(ranking, view, out);
    return 0;
}

static int run(const struct args *args)
{
    return watch_run(args, draw, (void *)args);
}

static const struct option options[] = {
    {"user", 'u', "USER", "the group of this user, if several have one of the name", false},
    {"limit", 'n', "N", "print the N best (default 100)", false},
    OPTION_WATCH_OPERANDS,
    OPTION_JSON("print one object, as the API returns it"),
    OPTION_QUIET("print only the ids, the best first"),
    OPTION_SERVER,
    {},
};

const struct command command_best = {
    .name = "best",
    .summary = "Rank the jobs of a group or an array by their metric",
    .operands = "GROUP",
    .details =
        "GROUP is the name that jobs were submitted with (--group), or the number or name of\n"
        "an array. Jobs are ranked by the last value of their metric; --metric and --goal of\n"
        "`trainyard submit` say which metric and which way.",
    .examples = "  trainyard best sweep1\n"
                "  trainyard logs $(trainyard best -q -n 1 sweep1)",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = "JOB",
    .run = run,
};
