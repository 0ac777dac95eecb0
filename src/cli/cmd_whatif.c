/* trainyard whatif: what other policies, more nodes or more jobs would change for the jobs that
 * the server has now. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/job_request.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/watch.h"
#include "cli/wire_out.h"
#include "sim/nodes.h"

/* ---- what is asked -------------------------------------------------------------- */

/* --policies a,b,c and --policy SPEC, which may have commas. */
static json_t *list_policies(const struct args *args)
{
    json_t *list = json_array();
    const char *names = args_get(args, "policies"), *spec;
    while (names && *names) {
        size_t n = strcspn(names, ",");
        json_array_append_new(list, json_stringn(names, n));
        names += n + (names[n] == ',');
    }
    for (size_t i = 0; (spec = args_nth(args, "policy", i)); i++)
        json_array_append_new(list, json_string(spec));
    return list;
}

static int list_nodes(const char *spec, json_t *list, struct err *err)
{
    struct arena a = {0};
    struct cluster c;
    int rc = nodes_parse(*spec == '+' ? spec + 1 : spec, &a, &c, err);
    for (uint32_t i = 0; rc == 0 && i < c.n; i++) {
        const struct node *n = &c.nodes[i];
        const char *type = n->gpus ? c.gpu_types[n->gpu_pool - POOL_GPU] : NULL;
        json_array_append_new(list,
                              json_pack("{s:f, s:I, s:s?, s:I}", "cpus", (double)n->cpus / UNIT,
                                        "gpus", (json_int_t)(n->gpus / UNIT), "gpu_type", type,
                                        "memory_mb", (json_int_t)n->memory_mb));
    }
    arena_done(&a);
    return rc < 0 ? err_prefix(err, "--nodes") : 0;
}

/* The jobs of a file, as `submit` reads it. */
static int list_jobs(const struct args *args, const char *file, json_t *list, struct err *err)
{
    struct args reading = {.command = args->command};
    json_auto_t *jobs = NULL;
    VEC_PUSH(&reading.operands, file);
    int rc = job_request_read(&reading, &jobs, err);
    args_done(&reading);
    if (rc < 0)
        return err_prefix(err, "--add");
    for (size_t i = 0; i < json_array_size(jobs); i++)
        json_object_del(json_array_get(jobs, i), "environment");
    json_array_extend(list, jobs);
    return 0;
}

static int make_question(const struct args *args, json_t *out, struct err *err)
{
    const char *file, *draws = args_get(args, "draws");
    json_auto_t *policies = list_policies(args), *nodes = json_array(), *jobs = json_array();
    int64_t n;
    for (size_t i = 0; (file = args_nth(args, "add", i)); i++)
        if (list_jobs(args, file, jobs, err) < 0)
            return -1;
    for (size_t i = 0; (file = args_nth(args, "nodes", i)); i++)
        if (list_nodes(file, nodes, err) < 0)
            return -1;
    if (draws && str_parse_int(draws, 0, 100, &n, err) < 0)
        return err_prefix(err, "--draws");
    if (draws)
        json_object_set_new(out, "draws", json_integer(n));
    if (json_array_size(policies))
        json_object_set(out, "policies", policies);
    json_object_set(out, "nodes", nodes);
    json_object_set(out, "add", jobs);
    return 0;
}

/* ---- the answer ----------------------------------------------------------------- */

static void add_band(struct grid *t, const json_t *band)
{
    char low[JOB_TEXT_SIZE], high[JOB_TEXT_SIZE];
    if (!member_has(band, "low")) {
        grid_add(t, COLOUR_NONE, "-");
        return;
    }
    grid_addf(t, COLOUR_NONE, "%s to %s", job_text_duration(member_number(band, "low"), low),
              job_text_duration(member_number(band, "high"), high));
}

/* "3", or "1 to 4" when the draws differ. */
static void add_missed(struct grid *t, const json_t *course)
{
    const json_t *band = json_object_get(course, "missed_band");
    double low = member_number(band, "low"), high = member_number(band, "high");
    if (round(low) == round(high) || isnan(low))
        grid_addf(t, COLOUR_NONE, "%lld", (long long)member_integer(course, "missed"));
    else
        grid_addf(t, COLOUR_NONE, "%.0f to %.0f", low, high);
}

static void add_course(struct grid *t, const json_t *course, bool present)
{
    char buf[JOB_TEXT_SIZE];
    double better = member_number(course, "better");
    grid_addf(t, present ? COLOUR_BOLD : COLOUR_NONE, "%s%s", member_text(course, "policy"),
              present ? " (now)" : "");
    grid_add(t, COLOUR_NONE, job_text_duration(member_number(course, "mean_s"), buf));
    add_band(t, json_object_get(course, "mean_band_s"));
    grid_add(t, COLOUR_NONE, job_text_duration(member_number(course, "makespan_s"), buf));
    add_missed(t, course);
    static const char *const changes[] = {"moves", "resizes", "preemptions"};
    for (size_t i = 0; i < COUNT_OF(changes); i++)
        grid_addf(t, COLOUR_NONE, "%lld", (long long)member_integer(course, changes[i]));
    if (present || isnan(better))
        grid_add(t, COLOUR_NONE, "-");
    else
        grid_addf(t, COLOUR_NONE, "%.0f%%", 100 * better);
}

static void add_table(const json_t *courses, const struct watch_view *view, struct str *out)
{
    static const struct grid_column columns[] = {
        {"POLICY", false, 12, 0}, {"MEAN", true, 0, 0},   {"BAND", true, 0, 2},
        {"MAKESPAN", true, 0, 0}, {"MISSED", true, 0, 0}, {"MOVES", true, 0, 0},
        {"RESIZES", true, 0, 1},  {"STOPS", true, 0, 1},  {"BETTER", true, 0, 0},
    };
    struct grid_look shape = {.width = view->width, .colours = view->colours};
    struct grid t;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(courses); i++)
        if (!*member_text(json_array_get(courses, i), "error"))
            add_course(&t, json_array_get(courses, i), i == 0);
    grid_draw(&t, &shape, out);
    grid_done(&t);
}

/* "job 3 (big) by 12m": the jobs of a list. */
static void add_shifts(const json_t *list, struct str *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *shift = json_array_get(list, i);
        char buf[JOB_TEXT_SIZE];
        str_add(out, i ? ", " : "");
        if (member_has(shift, "id"))
            str_addf(out, "job %lld (%s)", (long long)member_integer(shift, "id"),
                     member_text(shift, "name"));
        else
            str_addf(out, "%s", member_text(shift, "name"));
        if (member_has(shift, "by_s"))
            str_addf(out, " by %s", job_text_duration(fabs(member_number(shift, "by_s")), buf));
    }
}

static void add_winners(const json_t *course, size_t width, struct str *out)
{
    const json_t *winners = json_object_get(course, "winners"),
                 *losers = json_object_get(course, "losers");
    struct str text = {0};
    if (*member_text(course, "error")) {
        str_addf(&text, "%s: %s", member_text(course, "policy"), member_text(course, "error"));
    } else if (json_array_size(winners) || json_array_size(losers)) {
        str_addf(&text, "%s: ", member_text(course, "policy"));
        str_add(&text, json_array_size(winners) ? "earlier " : "");
        add_shifts(winners, &text);
        str_add(&text, !json_array_size(losers)   ? ""
                       : json_array_size(winners) ? "; later "
                                                  : "later ");
        add_shifts(losers, &text);
    }
    if (text.n)
        screen_add_filled(out, text.at, "  - ", width);
    str_done(&text);
}

static void add_notes(const json_t *answer, size_t width, struct str *out)
{
    struct str text = {0};
    long long jobs = member_integer(answer, "jobs"), unknown = member_integer(answer, "unknown");
    str_addf(&text, "%lld job%s", jobs, jobs == 1 ? "" : "s");
    if (unknown)
        str_addf(&text, "; %lld without an estimate", unknown);
    if (member_integer(answer, "left_out"))
        str_addf(&text, "; %lld that are held or wait for others are left out",
                 (long long)member_integer(answer, "left_out"));
    str_addf(&text,
             ". BAND is the 10th to the 90th percentile of %lld draws, BETTER the share of them "
             "in which the mean is below that of the current policy.",
             (long long)member_integer(answer, "draws"));
    str_add(out, "\n");
    screen_add_filled(out, text.at, "", width);
    str_done(&text);
}

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct args *args = ctx;
    json_auto_t *question = json_object(), *answer = NULL;
    if (make_question(args, question, err) < 0 ||
        server_link_call(l, "POST", "/whatif", question, &answer, err) < 0)
        return -1;
    const json_t *courses = json_object_get(answer, "policies");
    if (args_get(args, "json")) {
        wire_out_line(answer, out);
        return 0;
    }
    add_table(courses, view, out);
    for (size_t i = 0; i < json_array_size(courses); i++)
        add_winners(json_array_get(courses, i), view->width, out);
    add_notes(answer, view->width, out);
    return 0;
}

static int run(const struct args *args)
{
    return watch_run(args, draw, (void *)args);
}

static const struct option options[] = {
    {"policies", 'p', "A,B,C", "policies to compare with the present one", false},
    {"policy", 0, "SPEC", "one more, which may have commas", true},
    {"add", 'a', "FILE", "as if the jobs of this file were submitted now", true},
    {"nodes", 'n', "+NODES", "as if there were these nodes too, written as for `sim`: +2x8c", true},
    {"draws", 0, "N", "draws from the bands of the estimates, up to 100 (default 20)", false},
    OPTION_WATCH,
    OPTION_JSON("print one object, as the API returns it"),
    OPTION_SERVER,
    {},
};

const struct command command_whatif = {
    .name = "whatif",
    .summary = "Show what other policies would do with the current jobs",
    .details =
        "Runs copies of the scheduler on until all jobs have ended, and prints for each policy "
        "the\n"
        "mean time from submission to end, the time until the last end, missed deadlines,\n"
        "moves, resizes and stops (preemptions); then the jobs that would end earlier and later.\n"
        "Nothing is changed.",
    .examples = "  trainyard whatif\n"
                "  trainyard whatif -p srtf,las,afs-l --nodes +2x8c\n"
                "  trainyard whatif --add job.yaml",
    .options = options,
    .run = run,
};
