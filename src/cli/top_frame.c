/* Owns the drawing of the full-screen view: the text of each part, fitted to the rows of the
 * screen. */
#include "cli/top_frame.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/job_details.h"
#include "cli/job_grid.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/node_grid.h"
#include "cli/screen_text.h"

enum { NODE_BAR = 20, JOB_BAR = 12 };

static const char help[] = "Keys\n"
                           "\n"
                           "  up down j k    select a job        enter    its details\n"
                           "  page up, down  by pages            g G      the first, the last\n"
                           "  c              cancel it           h        hold or release it\n"
                           "  + -            more or fewer CPUs  0        restore its range\n"
                           "  a              also finished jobs  p        pause the view\n"
                           "  q              quit\n"
                           "\n"
                           "Press any key to go back.\n";

/* Appends safe text as one line of the width of the screen. */
static void add_bar(const struct top_state *s, const char *text, enum colour colour, bool colours,
                    struct str *out)
{
    colour_begin(out, colour, colours);
    screen_add_cut(out, text, s->size.columns);
    colour_end(out, colour, colours);
}

static size_t count_in(const json_t *jobs, const char *state)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(jobs); i++)
        n += !strcmp(member_text(json_array_get(jobs, i), "state"), state);
    return n;
}

static double sum_of(const json_t *nodes, const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(nodes); i++)
        sum += fmax(member_number(json_array_get(nodes, i), name), 0);
    return sum;
}

static void add_head(const struct top_state *s, bool colours, struct str *out)
{
    char held[JOB_TEXT_SIZE], all[JOB_TEXT_SIZE];
    struct str line = {0};
    str_add(&line, "trainyard");
    if (*member_text(s->policy, "policy")) {
        str_add(&line, "  policy ");
        screen_add(&line, member_text(s->policy, "policy"));
    }
    str_addf(&line, "  CPUs %s of %s  %zu running, %zu queued, %zu held%s",
             job_text_units(sum_of(s->nodes, "cpus_held"), held),
             job_text_units(sum_of(s->nodes, "cpus"), all), count_in(s->jobs, "running"),
             count_in(s->jobs, "queued"), count_in(s->jobs, "held"), s->paused ? "  PAUSED" : "");
    add_bar(s, line.at, COLOUR_BOLD, colours, out);
    str_add(out, "\n");
    str_done(&line);
}

static void add_nodes(const struct top_state *s, bool colours, struct str *out)
{
    struct grid_look look = {
        .width = s->size.columns, .colours = colours, .rows = top_state_node_rows(s)};
    struct grid t;
    if (!look.rows)
        return;
    node_grid_fill(s->nodes, NODE_BAR, &t);
    grid_draw(&t, &look, out);
    grid_done(&t);
}

/* The row of the selected job, counted from 1; 0 = none. */
static size_t marked_row(const struct top_state *s)
{
    for (size_t i = 0; s->selected && i < json_array_size(s->jobs); i++)
        if (member_integer(json_array_get(s->jobs, i), "id") == s->selected)
            return i + 1;
    return 0;
}

static void add_jobs(const struct top_state *s, bool colours, struct str *out)
{
    struct job_grid_look fill = {s->now, JOB_BAR, s->size.columns > 140};
    struct grid_look look = {.width = s->size.columns,
                             .colours = colours,
                             .marked = marked_row(s),
                             .first = s->first,
                             .rows = top_state_job_rows(s)};
    struct grid t;
    if (!json_array_size(s->jobs)) {
        add_bar(s, s->all ? "no jobs" : "no jobs are queued or running", COLOUR_DIM, colours, out);
        return;
    }
    job_grid_fill(s->jobs, &fill, &t);
    grid_draw(&t, &look, out);
    grid_done(&t);
}

static void add_foot(const struct top_state *s, bool colours, struct str *out)
{
    const json_t *job = top_state_selected(s);
    struct str line = {0};
    if (s->mode == TOP_CONFIRM) {
        str_addf(&line, "Cancel job %lld (", (long long)s->selected);
        screen_add(&line, member_text(job, "name"));
        str_add(&line, ")? y: yes, any other key: no");
        add_bar(s, line.at, COLOUR_REVERSE, colours, out);
    } else if (*s->message) {
        screen_add(&line, s->message);
        add_bar(s, line.at, COLOUR_YELLOW, colours, out);
    } else if (s->mode == TOP_JOB) {
        add_bar(s, "q back  up down scroll", COLOUR_DIM, colours, out);
    } else {
        add_bar(s, "q quit  enter show  c cancel  h hold  + - resize  a all  p pause  ? keys",
                COLOUR_DIM, colours, out);
    }
    str_done(&line);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Adds the lines of `text` from `first` on that fit above the last line. */
static void add_page(const struct top_state *s, const char *text, size_t first, struct str *out)
{
    for (; first; first--)
        text += strcspn(text, "\n") + 1;
    for (unsigned row = 0; row + 1 < s->size.rows; row++) {
        size_t n = strcspn(text, "\n");
        AUTO_FREE char *line = xstrndup(text, n);
        screen_add_cut(out, line, s->size.columns);
        str_add(out, "\n");
        text += n + (text[n] == '\n');
    }
}

static void add_job_page(struct top_state *s, struct str *out)
{
    struct job_details_look look = {s->now, s->size.columns, false};
    struct str text = {0};
    if (s->job)
        job_details_add(s->job, &look, &text);
    else
        str_add(&text, "…\n");
    size_t lines = count_lines(text.at), rows = s->size.rows - 1;
    size_t last = lines > rows ? lines - rows : 0;
    s->first = s->first < last ? s->first : last;
    add_page(s, text.at, s->first, out);
    str_done(&text);
}

/* Adds the list, cut or padded to the rows above the last line. */
static void add_list(const struct top_state *s, bool colours, struct str *out)
{
    struct str body = {0};
    add_head(s, colours, &body);
    add_nodes(s, colours, &body);
    str_add(&body, "\n");
    add_jobs(s, colours, &body);
    const char *text = body.at;
    for (unsigned row = 0; row + 1 < s->size.rows; row++) {
        size_t n = strcspn(text, "\n");
        str_add_n(out, text, n);
        str_add(out, "\n");
        text += n + (text[n] == '\n');
    }
    str_done(&body);
}

void top_frame_draw(struct top_state *s, bool colours, struct str *out)
{
    if (s->mode == TOP_JOB)
        add_job_page(s, out);
    else if (s->mode == TOP_HELP)
        add_page(s, help, 0, out);
    else
        add_list(s, colours, out);
    add_foot(s, colours, out);
}
