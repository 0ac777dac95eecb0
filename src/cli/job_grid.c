/* Owns the columns of the table of jobs. */
#include "cli/job_grid.h"

#include "cli/job_text.h"
#include "cli/member.h"

static const struct grid_column columns[] = {
    {"ID", true, 0, 0},
    {"NAME", false, 8, 0},
    {"STATE", false, 0, 0},
    {"CPUS", false, 0, 1},
    {"PROGRESS", false, 0, 0},
    {"LOSS", true, 0, 4},
    {"TIME", true, 0, 2},
    {"ETA", true, 0, 3},
    {"USER", false, 6, 5},
    /* only when wide: */
    {"PRIORITY", true, 0, 12},
    {"NODE", false, 6, 11},
    {"ATTEMPT", true, 0, 13},
    {"MEMORY", true, 0, 10},
    {"SUBMITTED", true, 0, 9},
    {"DEADLINE", true, 0, 8},
    {"WHY", false, 10, 6},
    {"COMMAND", false, 10, 7},
};
enum { NARROW = 9 };

/* Why it waits, or why it ended as it did. */
static void add_why(struct grid *t, const json_t *job)
{
    const json_t *waits = json_object_get(job, "waits_for");
    struct str text = {0};
    for (size_t i = 0; i < json_array_size(waits); i++) {
        const char *word = json_string_value(json_array_get(waits, i));
        str_addf(&text, "%s%s", i ? ", " : "", word ? word : "");
    }
    if (!text.n)
        str_add(&text, member_text(job, "reason"));
    grid_add(t, COLOUR_NONE, text.at);
    str_done(&text);
}

static void add_command(struct grid *t, const json_t *job)
{
    const json_t *words = json_object_get(job, "command");
    struct str text = {0};
    str_add(&text, "");
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        str_addf(&text, "%s%s", i ? " " : "", word ? word : "");
    }
    grid_add(t, COLOUR_NONE, text.at);
    str_done(&text);
}

static void add_wide(struct grid *t, const json_t *job, usec_t now)
{
    const json_t *usage = json_object_get(job, "usage");
    char buf[JOB_TEXT_SIZE];
    grid_add(t, COLOUR_NONE, job_text_units(member_number(job, "priority"), buf));
    grid_add(t, COLOUR_NONE, member_text(job, "node"));
    grid_add(t, COLOUR_NONE, job_text_units(member_number(job, "attempt"), buf));
    grid_add(t, COLOUR_NONE, job_text_megabytes(member_number(usage, "memory_mb"), buf));
    grid_add(t, COLOUR_NONE, job_text_when(member_number(job, "submitted"), now, buf));
    grid_add(t, COLOUR_NONE, job_text_when(member_number(job, "deadline"), now, buf));
    add_why(t, job);
    add_command(t, job);
}

static void add_job(struct grid *t, const json_t *job, const struct job_grid_look *look)
{
    char buf[JOB_TEXT_SIZE];
    grid_addf(t, COLOUR_BOLD, "%lld", (long long)member_integer(job, "id"));
    grid_add(t, COLOUR_NONE, member_text(job, "name"));
    grid_add(t, job_text_state_colour(job), job_text_state(job, buf));
    grid_add(t, COLOUR_NONE, job_text_cpus(job, buf));
    grid_add(t, COLOUR_CYAN, job_text_progress(job, look->bar, buf));
    grid_add(t, COLOUR_NONE, job_text_loss(job, buf));
    grid_add(t, COLOUR_NONE, job_text_time(job, look->now, buf));
    grid_add(t, COLOUR_NONE, job_text_eta(job, look->now, buf));
    grid_add(t, COLOUR_NONE, member_text(job, "user"));
    if (look->wide)
        add_wide(t, job, look->now);
}

void job_grid_fill(const json_t *jobs, const struct job_grid_look *look, struct grid *out)
{
    grid_init(out, columns, look->wide ? COUNT_OF(columns) : NARROW);
    for (size_t i = 0; i < json_array_size(jobs); i++)
        add_job(out, json_array_get(jobs, i), look);
}
