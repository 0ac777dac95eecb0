/* trainyard ps: lists jobs as a table, as ids or as JSON. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/job_grid.h"
#include "cli/job_list.h"
#include "cli/member.h"
#include "cli/watch.h"
#include "cli/wire_out.h"
#include "store/job_state.h"

enum { BAR = 10, SHOWN = 100 };

struct request {
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

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct request *r = ctx;
    json_auto_t *jobs = NULL;
    bool more;
    if (job_list_get(l, &r->query, &jobs, &more, err) < 0)
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

/* "held, queued, ..." */
#define X(name, text, over) ", " text
static const char all_states[] = JOB_STATES(X);
#undef X

/* The server would also refuse them, but cannot name the option. */
static int check_states(const char *states, struct err *err)
{
    const char *known = all_states + strlen(", ");
    if (!states[strspn(states, ",")])
        return err_set(err, ERR_INVALID, "--state: must not be empty; expected some of %s", known);
    for (const char *p = states; *p;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *word = xstrndup(p, n);
        if (job_state_parse(word) < 0)
            return err_set(err, ERR_INVALID, "--state: unknown state '%.40s'; expected some of %s",
                           word, known);
        p += n + (p[n] == ',');
    }
    return 0;
}

static int get_request(const struct args *a, struct request *r, struct err *err)
{
    const char *limit = args_get(a, "limit");
    int64_t number = args_get(a, "all") ? SHOWN : 0;
    if (limit && str_parse_int(limit, 0, INT32_MAX, &number, err) < 0)
        return err_prefix(err, "--limit");
    if (args_get(a, "state") && check_states(args_get(a, "state"), err) < 0)
        return -1;
    *r = (struct request){
        .query = {.state = args_get(a, "state"),
                  .name = args_get(a, "name"),
                  .user = args_get(a, "user"),
                  .all = args_get(a, "all"),
                  .newest = args_get(a, "all") || args_get(a, "state"),
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
    {"name", 'n', "NAME", "only jobs with this name; pre* matches a prefix", false},
    {"user", 'u', "USER", "only this user's jobs", false},
    {"limit", 'l', "N", "list at most N jobs; 0 = all (default 100 with --all, else all)", false},
    {"wide", 'W', NULL, "show more columns", false},
    OPTION_WATCH,
    OPTION_JSON("print one object per line"),
    OPTION_QUIET("print only the ids"),
    OPTION_SERVER,
    {},
};

const struct command command_ps = {
    .name = "ps",
    .summary = "List jobs that are queued, held or running",
    .details =
        "CPUS is what a job holds of what it can use. TIME is how long it has run or waited. ETA\n"
        "is the time until its expected end, estimated from its progress.",
    .examples = "  trainyard ps\n"
                "  trainyard ps --all --state failed,timeout\n"
                "  trainyard ps --json | jq -r 'select(.progress.loss < 0.1) | .id'",
    .options = options,
    .run = run,
};
