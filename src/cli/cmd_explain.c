/* trainyard explain JOB: why it waits, or has the size that it has. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/watch.h"
#include "cli/wire_out.h"

static void add_reasons(const json_t *reasons, size_t width, struct str *out)
{
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        char number[32];
        snprintf(number, sizeof number, "%3zu. ", i + 1);
        screen_add_filled(out, member_text(json_array_get(reasons, i), "text"), number, width);
    }
}

static void add_ahead(const json_t *ahead, const struct watch_view *view, struct str *out)
{
    static const struct grid_column columns[] = {{"  ID", true, 0, 0},
                                                 {"NAME", false, 8, 0},
                                                 {"STATE", false, 0, 0},
                                                 {"CPUS", true, 0, 0},
                                                 {"TIME LEFT", true, 0, 0}};
    struct grid_look shape = {.width = view->width, .colours = view->colours};
    char buf[JOB_TEXT_SIZE];
    struct grid t;
    if (!json_array_size(ahead))
        return;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(ahead); i++) {
        const json_t *job = json_array_get(ahead, i);
        grid_addf(&t, COLOUR_BOLD, "%lld", (long long)member_integer(job, "id"));
        grid_add(&t, COLOUR_NONE, member_text(job, "name"));
        grid_add(&t, job_text_state_colour(job), member_text(job, "state"));
        grid_add(&t, COLOUR_NONE, job_text_units(member_number(job, "cpus"), buf));
        grid_add(&t, COLOUR_NONE, job_text_duration(member_number(job, "remaining_s"), buf));
    }
    str_add(out, "\nAhead of it:\n");
    grid_draw(&t, &shape, out);
    grid_done(&t);
}

static void add_frees(const json_t *frees, size_t width, struct str *out)
{
    if (json_array_size(frees))
        str_add(out, "\nWhat would help:\n");
    for (size_t i = 0; i < json_array_size(frees); i++) {
        const char *text = json_string_value(json_array_get(frees, i));
        screen_add_filled(out, text ? text : "", "  - ", width);
    }
}

static void add_start(const json_t *start, const struct watch_view *view, struct str *out)
{
    char when[JOB_TEXT_SIZE];
    struct str text = {0};
    if (!json_is_object(start))
        return;
    if (member_has(start, "expected"))
        str_addf(&text, "%s", job_text_when(member_number(start, "expected"), view->now, when));
    else
        str_add(&text, "unknown");
    if (*member_text(start, "basis"))
        str_addf(&text, ": %s", member_text(start, "basis"));
    str_add(out, "\n");
    screen_add_filled(out, text.at, "Expected start: ", view->width);
    str_done(&text);
}

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct args *args = ctx;
    AUTO_FREE char *path = server_link_job_path(args->operands.at[0], "explain");
    json_auto_t *answer = NULL;
    if (server_link_get(l, path, &answer, err) < 0)
        return -1;
    if (args_get(args, "json")) {
        wire_out_line(answer, out);
        return 0;
    }
    screen_add_filled(out, member_text(answer, "summary"), "", view->width);
    add_reasons(json_object_get(answer, "reasons"), view->width, out);
    add_ahead(json_object_get(answer, "ahead"), view, out);
    add_frees(json_object_get(answer, "frees"), view->width, out);
    add_start(json_object_get(answer, "start"), view, out);
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

const struct command command_explain = {
    .name = "explain",
    .summary = "Explain why a job waits, or why it has its current size",
    .operands = "JOB",
    .details =
        "Prints the reasons, most important first; who is ahead of it; what would let it start\n"
        "or grow; and when it should start.",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = "JOB",
    .run = run,
};
