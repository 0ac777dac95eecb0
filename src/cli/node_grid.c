/* Owns the columns of the table of nodes. */
#include "cli/node_grid.h"

#include <string.h>

#include "cli/job_text.h"
#include "cli/member.h"

static const struct grid_column columns[] = {
    {"NODE", false, 8, 0},    {"STATE", false, 0, 0},   {"CPUS", false, 0, 0},
    {"GPUS", false, 0, 4},    {"MEMORY", false, 0, 3},  {"JOBS", true, 0, 1},
    {"RUNTIME", false, 0, 5}, {"NOTICE", false, 10, 2},
};

static enum colour state_colour(const char *state)
{
    return !strcmp(state, "up")     ? COLOUR_GREEN
           : !strcmp(state, "down") ? COLOUR_RED
                                    : COLOUR_YELLOW;
}

static void add_cpus(struct grid *t, const json_t *node, unsigned bar)
{
    char held[JOB_TEXT_SIZE], all[JOB_TEXT_SIZE];
    double taken = member_number(node, "cpus_held"), cpus = member_number(node, "cpus");
    struct str text = {0};
    if (bar && cpus > 0) {
        job_text_bar(taken / cpus, bar, &text);
        str_add(&text, " ");
    }
    str_addf(&text, "%s of %s", job_text_units(taken, held), job_text_units(cpus, all));
    grid_add(t, COLOUR_CYAN, text.at);
    str_done(&text);
}

static void add_gpus(struct grid *t, const json_t *node)
{
    char held[JOB_TEXT_SIZE], all[JOB_TEXT_SIZE];
    if (!(member_number(node, "gpus") > 0)) {
        grid_add(t, COLOUR_NONE, "-");
        return;
    }
    grid_addf(t, COLOUR_NONE, "%s of %s %s", job_text_units(member_number(node, "gpus_held"), held),
              job_text_units(member_number(node, "gpus"), all), member_text(node, "gpu_type"));
}

static void add_memory(struct grid *t, const json_t *node)
{
    char held[JOB_TEXT_SIZE], all[JOB_TEXT_SIZE];
    grid_addf(t, COLOUR_NONE, "%s of %s",
              job_text_megabytes(member_number(node, "memory_held_mb"), held),
              job_text_megabytes(member_number(node, "memory_mb"), all));
}

void node_grid_fill(const json_t *nodes, unsigned bar, struct grid *out)
{
    grid_init(out, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const char *state = member_text(node, "state");
        grid_add(out, COLOUR_BOLD, member_text(node, "name"));
        grid_add(out, state_colour(state), state);
        add_cpus(out, node, bar);
        add_gpus(out, node);
        add_memory(out, node);
        grid_addf(out, COLOUR_NONE, "%zu", json_array_size(json_object_get(node, "jobs")));
        grid_add(out, COLOUR_NONE, member_text(node, "runtime"));
        grid_add(out, COLOUR_YELLOW, member_text(node, "notice"));
    }
}
