/* trainyard estimate JOB: when it is expected to end, and what that rests on. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/watch.h"
#include "cli/wire_out.h"

/* "4m10s (3m50s to 4m40s)"; "-" when unknown. */
static void add_band(const json_t *band, struct str *out)
{
    char mid[JOB_TEXT_SIZE], low[JOB_TEXT_SIZE], high[JOB_TEXT_SIZE];
    str_add(out, job_text_duration(member_number(band, "mid"), mid));
    if (member_has(band, "low") && member_has(band, "high"))
        str_addf(out, " (%s to %s)", job_text_duration(member_number(band, "low"), low),
                 job_text_duration(member_number(band, "high"), high));
}

static void add_sizes(const json_t *sizes, bool gpus, const struct watch_view *view,
                      struct str *out)
{
    struct grid_column columns[] = {{gpus ? "GPUS" : "CPUS", true, 0, 0},
                                    {"STEP", true, 0, 0},
                                    {"TIME LEFT", false, 0, 0},
                                    {"", false, 0, 1}};
    struct grid_look shape = {.width = view->width, .colours = view->colours};
    struct grid t;
    char buf[JOB_TEXT_SIZE];
    if (!json_array_size(sizes))
        return;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        const json_t *size = json_array_get(sizes, i);
        struct str left = {0};
        bool held = member_flag(size, "held");
        add_band(json_object_get(size, "remaining_s"), &left);
        grid_add(&t, held ? COLOUR_BOLD : COLOUR_NONE,
                 job_text_units(member_number(size, "units"), buf));
        grid_add(&t, COLOUR_NONE,
                 job_text_duration(member_number(json_object_get(size, "step_s"), "mid"), buf));
        grid_add(&t, COLOUR_NONE, left.at);
        grid_addf(&t, COLOUR_NONE, "%s%s", member_flag(size, "measured") ? "measured" : "expected",
                  held ? ", now" : "");
        str_done(&left);
    }
    str_add(out, "\n");
    grid_draw(&t, &shape, out);
    grid_done(&t);
}

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct args *args = ctx;
    AUTO_FREE char *path = server_link_job_path(args->operands.at[0], "estimate");
    json_auto_t *answer = NULL;
    if (server_link_get(l, path, &answer, err) < 0)
        return -1;
    if (args_get(args, "json")) {
        wire_out_line(answer, out);
        return 0;
    }
    screen_add_filled(out, member_text(answer, "text"), "", view->width);
    str_add(out, "Time left: ");
    add_band(json_object_get(answer, "remaining_s"), out);
    str_add(out, "\n");
    if (*member_text(answer, "deadline"))
        str_addf(out, "Deadline: %s.\n", member_text(answer, "deadline"));
    add_sizes(json_object_get(answer, "sizes"), !strcmp(member_text(answer, "unit"), "gpus"), view,
              out);
    return 0;
}

static int run(const struct args *args)
{
    return watch_run(args, draw, (void *)args);
}

static const struct option options[] = {
    OPTION_WATCH_OPERANDS,
    OPTION_JSON("print one object, as the API returns it"),
    OPTION_SERVER,
    {},
};

const struct command command_estimate = {
    .name = "estimate",
    .summary = "Explain when a job is expected to end",
    .operands = "JOB",
    .details =
        "Prints what the estimate is based on, the time that is left with its 10-90 % band, and\n"
        "what a step and the rest would take on each size that it may have.",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = "JOB",
    .run = run,
};
