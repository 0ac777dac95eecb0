/* Owns the table of jobs: one list of columns says for each its head, how wide it may be, and
 * how its cells are written from which member. */
#include "cli/job_grid.h"

#include "cli/job_text.h"
#include "cli/member.h"
#include "store/job_state.h"

/* A row in the making. */
struct row {
    struct grid *t;
    const json_t *job;
    const struct job_grid_look *look;
    char buf[JOB_TEXT_SIZE];
};

struct job_column {
    struct grid_column grid;
    void (*add)(struct row *r, const char *member); /* adds the cell */
    const char *member;
    void (*add_folded)(struct row *r, const char *member); /* of an array; NULL = an empty cell */
};

/* ---- cells ----------------------------------------------------------------- */

static void add_id(struct row *r, const char *member)
{
    grid_addf(r->t, COLOUR_BOLD, "%lld", (long long)member_integer(r->job, member));
}

/* The grid makes it safe. */
static void add_name(struct row *r, const char *member)
{
    const json_t *array = json_object_get(r->job, "array");
    if (json_is_object(array))
        grid_addf(r->t, COLOUR_NONE, "%s[%lld]", member_text(r->job, member),
                  (long long)member_integer(array, "index"));
    else
        grid_add(r->t, COLOUR_NONE, member_text(r->job, member));
}

static void add_string(struct row *r, const char *member)
{
    grid_add(r->t, COLOUR_NONE, member_text(r->job, member));
}

static void add_number(struct row *r, const char *member)
{
    grid_add(r->t, COLOUR_NONE, job_text_units(member_number(r->job, member), r->buf));
}

static void add_when(struct row *r, const char *member)
{
    double at = member_number(r->job, member);
    grid_add(r->t, COLOUR_NONE, job_text_when(at, r->look->now, r->buf));
}

static void add_state(struct row *r, const char *member)
{
    (void)member;
    grid_add(r->t, job_text_state_colour(r->job), job_text_state(r->job, r->buf));
}

static void add_cpus(struct row *r, const char *member)
{
    (void)member;
    grid_add(r->t, COLOUR_NONE, job_text_cpus(r->job, r->buf));
}

static void add_progress(struct row *r, const char *member)
{
    (void)member;
    grid_add(r->t, COLOUR_CYAN, job_text_progress(r->job, r->look->bar, r->buf));
}

static void add_loss(struct row *r, const char *member)
{
    (void)member;
    grid_add(r->t, COLOUR_NONE, job_text_loss(r->job, r->buf));
}

static void add_time(struct row *r, const char *member)
{
    (void)member;
    grid_add(r->t, COLOUR_NONE, job_text_time(r->job, r->look->now, r->buf));
}

static void add_eta(struct row *r, const char *member)
{
    (void)member;
    grid_add(r->t, COLOUR_NONE, job_text_eta(r->job, r->look->now, r->buf));
}

static void add_memory(struct row *r, const char *member)
{
    double megabytes = member_number(json_object_get(r->job, "usage"), member);
    grid_add(r->t, COLOUR_NONE, job_text_megabytes(megabytes, r->buf));
}

/* The texts of a list, with a separator between them; else `otherwise`. */
static void add_list(struct row *r, const char *member, const char *separator,
                     const char *otherwise)
{
    const json_t *list = json_object_get(r->job, member);
    struct str text = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        str_addf(&text, "%s%s", i ? separator : "", word ? word : "");
    }
    grid_add(r->t, COLOUR_NONE, text.n ? text.at : otherwise);
    str_done(&text);
}

/* Why it waits, or why it ended as it did. */
static void add_why(struct row *r, const char *member)
{
    add_list(r, member, ", ", member_text(r->job, "reason"));
}

static void add_parameters(struct row *r, const char *member)
{
    struct str text = {0};
    (void)member;
    job_text_add_parameters(r->job, &text);
    grid_add(r->t, COLOUR_NONE, text.n ? text.at : "");
    str_done(&text);
}

/* Why it failed: the error that it printed, or else the reason. */
static void add_error(struct row *r, const char *member)
{
    const char *error = member_text(r->job, member);
    grid_add(r->t, COLOUR_RED,
             *error                    ? error
             : job_text_failed(r->job) ? member_text(r->job, "reason")
                                       : "");
}

static void add_command(struct row *r, const char *member)
{
    struct str text = {0};
    job_text_add_command(json_object_get(r->job, member), &text);
    grid_add(r->t, COLOUR_NONE, text.n ? text.at : "");
    str_done(&text);
}

/* ---- cells of arrays ------------------------------------------------------- */

static void add_array_id(struct row *r, const char *member)
{
    const json_t *array = json_object_get(r->job, "array");
    (void)member;
    grid_addf(r->t, COLOUR_BOLD, "%lld", (long long)member_integer(array, "job"));
}

static void add_array_name(struct row *r, const char *member)
{
    const json_t *fold = json_object_get(r->job, "fold");
    grid_addf(r->t, COLOUR_NONE, "%s[%lld-%lld]", member_text(r->job, member),
              (long long)member_integer(fold, "first"), (long long)member_integer(fold, "last"));
}

static void add_array_states(struct row *r, const char *member)
{
    const json_t *fold = json_object_get(r->job, "fold");
    struct str text = {0};
    (void)member;
    job_text_add_counts(json_object_get(fold, "states"), &text);
    grid_add(r->t, COLOUR_NONE, text.n ? text.at : "");
    str_done(&text);
}

static void add_array_cpus(struct row *r, const char *member)
{
    const json_t *fold = json_object_get(r->job, "fold");
    grid_add(r->t, COLOUR_NONE, job_text_units(member_number(fold, member), r->buf));
}

/* How many are over. */
static void add_array_progress(struct row *r, const char *member)
{
    const json_t *fold = json_object_get(r->job, "fold"), *states = json_object_get(fold, "states");
    int64_t over = 0;
    (void)member;
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++)
        if (job_state_over(s) && member_has(states, job_state_name(s)))
            over += member_integer(states, job_state_name(s));
    grid_addf(r->t, COLOUR_CYAN, "%lld/%lld over", (long long)over,
              (long long)member_integer(fold, "jobs"));
}

/* ---- columns --------------------------------------------------------------- */

static const struct job_column columns[] = {
    {{"ID", true, 0, 0}, add_id, "id", add_array_id},
    {{"NAME", false, 8, 0}, add_name, "name", add_array_name},
    {{"STATE", false, 0, 0}, add_state, "state", add_array_states},
    {{"CPUS", false, 0, 1}, add_cpus, "cpus", add_array_cpus},
    {{"PROGRESS", false, 0, 0}, add_progress, "progress", add_array_progress},
    {{"LOSS", true, 0, 4}, add_loss, "progress", NULL},
    {{"TIME", true, 0, 2}, add_time, "run_s", NULL},
    {{"ETA", true, 0, 3}, add_eta, "progress", NULL},
    {{"USER", false, 6, 5}, add_string, "user", add_string},
    /* only when a job has parameters: */
    {{"PARAMETERS", false, 12, 0}, add_parameters, "parameters", NULL},
    /* only when a job has failed: */
    {{"ERROR", false, 20, 0}, add_error, "error", NULL},
    /* only when wide: */
    {{"PRIORITY", true, 0, 12}, add_number, "priority", add_number},
    {{"NODE", false, 6, 11}, add_string, "node", NULL},
    {{"ATTEMPT", true, 0, 13}, add_number, "attempt", NULL},
    {{"MEMORY", true, 0, 10}, add_memory, "memory_mb", NULL},
    {{"SUBMITTED", true, 0, 9}, add_when, "submitted", add_when},
    {{"DEADLINE", true, 0, 8}, add_when, "deadline", NULL},
    {{"WHY", false, 10, 6}, add_why, "waits_for", NULL},
    {{"COMMAND", false, 10, 7}, add_command, "command", add_command},
};
enum { PARAMETERS = 9, ERROR, NARROW };

static bool has_parameters(const json_t *job)
{
    return member_has(job, "parameters") && !member_has(job, "fold");
}

static bool any(const json_t *jobs, bool (*is)(const json_t *job))
{
    for (size_t i = 0; i < json_array_size(jobs); i++)
        if (is(json_array_get(jobs, i)))
            return true;
    return false;
}

static void add_cell(struct row *r, const struct job_column *c)
{
    if (!member_has(r->job, "fold"))
        c->add(r, c->member);
    else if (c->add_folded)
        c->add_folded(r, c->member);
    else
        grid_add(r->t, COLOUR_NONE, "");
}

void job_grid_fill(const json_t *jobs, const struct job_grid_look *look, struct grid *out)
{
    struct grid_column heads[COUNT_OF(columns)];
    const struct job_column *shown[COUNT_OF(columns)];
    size_t n = 0, most = look->wide ? COUNT_OF(columns) : NARROW;
    bool failed = any(jobs, job_text_failed), swept = any(jobs, has_parameters);
    for (size_t c = 0; c < most; c++) {
        if ((c == ERROR && !failed) || (c == PARAMETERS && !swept))
            continue;
        heads[n] = columns[c].grid;
        shown[n++] = &columns[c];
    }
    grid_init(out, heads, n);
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        struct row r = {.t = out, .job = json_array_get(jobs, i), .look = look};
        for (size_t c = 0; c < n; c++)
            add_cell(&r, shown[c]);
    }
}
