/* Owns the page about one job: a head, a line for each known fact, its attempts, and the
 * changes of its size. */
#include "cli/job_details.h"

#include <math.h>
#include <stdarg.h>

#include "base/mem.h"
#include "cli/grid.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/screen_text.h"

enum { LABEL = 13, BAR = 20, SIZES_SHOWN = 10 };

static void add_line(struct str *out, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A label may be foreign text as well: the name of a metric. */
static void add_line(struct str *out, const char *label, const char *fmt, ...)
{
    struct str text = {0}, head = {0};
    va_list args;
    va_start(args, fmt);
    str_addv(&text, fmt, args);
    va_end(args);
    str_add(&head, "");
    screen_add(&head, label);
    str_addf(out, "  %-*s%s", LABEL, head.at, head.n < LABEL ? "" : " ");
    screen_add(out, text.at);
    str_add(out, "\n");
    str_done(&head);
    str_done(&text);
}

static void add_head(const json_t *job, const struct job_details_look *look, struct str *out)
{
    char state[JOB_TEXT_SIZE];
    enum colour colour = job_text_state_colour(job);
    str_addf(out, "Job %lld (", (long long)member_integer(job, "id"));
    job_text_add_name(job, out);
    str_add(out, ")");
    if (*member_text(job, "user")) {
        str_add(out, " of ");
        screen_add(out, member_text(job, "user"));
    }
    str_add(out, ": ");
    colour_begin(out, colour, look->colours);
    screen_add(out, job_text_state(job, state));
    colour_end(out, colour, look->colours);
    str_add(out, "\n");
}

/* Adds a line with the items of an array of texts, unless it is empty. */
static void add_items(struct str *out, const char *label, const json_t *items,
                      const char *separator)
{
    struct str text = {0};
    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *item = json_string_value(json_array_get(items, i));
        str_addf(&text, "%s%s", i ? separator : "", item ? item : "");
    }
    if (text.n)
        add_line(out, label, "%s", text.at);
    str_done(&text);
}

/* Adds a line for each text, the first with the label. */
static void add_lines(struct str *out, const char *label, const json_t *items)
{
    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *item = json_string_value(json_array_get(items, i));
        add_line(out, i ? "" : label, "%s", item ? item : "");
    }
}

static void add_wishes(const json_t *job, usec_t now, struct str *out)
{
    const json_t *array = json_object_get(job, "array"), *spec = json_object_get(job, "spec");
    char buf[JOB_TEXT_SIZE];
    struct str command = {0}, parameters = {0};
    job_text_add_command(json_object_get(job, "command"), &command);
    if (command.n)
        add_line(out, "command", "%s", command.at);
    str_done(&command);
    if (*member_text(spec, "workdir"))
        add_line(out, "directory", "%s", member_text(spec, "workdir"));
    if (*member_text(spec, "comment"))
        add_line(out, "comment", "%s", member_text(spec, "comment"));
    if (member_has(array, "index"))
        add_line(out, "array", "index %lld of job %lld", (long long)member_integer(array, "index"),
                 (long long)member_integer(array, "job"));
    job_text_add_parameters(job, &parameters);
    if (parameters.n)
        add_line(out, "parameters", "%s", parameters.at);
    str_done(&parameters);
    if (*member_text(job, "group"))
        add_line(out, "group", "%s", member_text(job, "group"));
    if (member_number(job, "priority") != 0 && member_has(job, "priority"))
        add_line(out, "priority", "%s", job_text_units(member_number(job, "priority"), buf));
    if (member_has(job, "deadline"))
        add_line(out, "deadline", "%s", job_text_when(member_number(job, "deadline"), now, buf));
    if (member_has(job, "time_limit_s"))
        add_line(out, "time limit", "%s",
                 job_text_duration(member_number(job, "time_limit_s"), buf));
}

/* On several nodes: "gpu1 with 4 CPUs, gpu2 with 4 CPUs". */
static void add_parts(const json_t *job, struct str *out)
{
    struct str text = {0};
    const json_t *part;
    size_t i;
    json_array_foreach(json_object_get(job, "parts"), i, part)
    {
        str_addf(&text, "%s%s with %g CPUs", i ? ", " : "", member_text(part, "node"),
                 member_number(part, "cpus"));
        if (member_number(part, "gpus") > 0)
            str_addf(&text, " and %g GPUs", member_number(part, "gpus"));
    }
    if (i)
        add_line(out, "nodes", "%s", text.at);
    str_done(&text);
}

static void add_place(const json_t *job, struct str *out)
{
    char buf[JOB_TEXT_SIZE];
    const char *node = member_text(job, "node"), *cpuset = member_text(job, "cpuset");
    add_line(out, "CPUs", "%s%s%s%s%s", job_text_cpus(job, buf), *node ? ", on " : "", node,
             !*cpuset                ? ""
             : strpbrk(cpuset, ",-") ? ", cores "
                                     : ", core ",
             cpuset);
    add_parts(job, out);
    if (member_has(job, "threads"))
        add_line(out, "threads", "%lld in its last parallel region",
                 (long long)member_integer(job, "threads"));
    if (member_number(job, "gpus_max") > 0)
        add_line(out, "GPUs", "%s", job_text_units(member_number(job, "gpus"), buf));
    if (member_has(job, "memory_mb"))
        add_line(out, "memory", "%s %s", job_text_megabytes(member_number(job, "memory_mb"), buf),
                 json_is_false(json_object_get(job, "memory_enforced"))
                     ? "asked for; the limit is not enforced"
                     : "at most");
}

static void add_times(const json_t *job, usec_t now, struct str *out)
{
    char when[JOB_TEXT_SIZE], text[JOB_TEXT_SIZE];
    add_line(out, "submitted", "%s", job_text_when(member_number(job, "submitted"), now, when));
    if (member_has(job, "started"))
        add_line(out, "started", "%s, after waiting %s",
                 job_text_when(member_number(job, "started"), now, when),
                 job_text_duration(member_number(job, "wait_s"), text));
    if (member_has(job, "ended"))
        add_line(out, "ended", "%s, after running %s",
                 job_text_when(member_number(job, "ended"), now, when),
                 job_text_duration(member_number(job, "run_s"), text));
    else if (member_has(job, "started"))
        add_line(out, "running for", "%s", job_text_duration(member_number(job, "run_s"), text));
}

/* The processes that its last attempt left running, and the words before them. */
static void add_left_running(const json_t *job, struct str *out)
{
    const json_t *attempts = json_object_get(job, "attempts");
    const json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);
    if (*member_text(last, "left_running"))
        add_line(out, "left running", "%s, ended with the job", member_text(last, "left_running"));
}

/* Nothing was printed so far, so nothing can be known of its progress. */
static bool is_silent(const json_t *job)
{
    const json_t *attempts = json_object_get(job, "attempts");
    const json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);
    return !strcmp(member_text(job, "state"), "running") && !member_integer(last, "log_bytes");
}

/* "18:42, likely 18:35 to 18:55". */
static void add_end(const json_t *progress, usec_t now, struct str *out)
{
    char end[JOB_TEXT_SIZE], low[JOB_TEXT_SIZE], high[JOB_TEXT_SIZE];
    job_text_clock(member_number(progress, "expected_end"), now, end);
    job_text_clock(member_number(progress, "expected_end_low"), now, low);
    job_text_clock(member_number(progress, "expected_end_high"), now, high);
    if (*low != '-' && *high != '-')
        add_line(out, "expected end", "%s, likely %s to %s", end, low, high);
    else
        add_line(out, "expected end", "%s", end);
}

static void add_progress(const json_t *job, const struct job_details_look *look, struct str *out)
{
    const json_t *progress = json_object_get(job, "progress");
    char steps[JOB_TEXT_SIZE], text[JOB_TEXT_SIZE];
    if (is_silent(job))
        add_line(out, "output", "no output yet");
    if (!json_is_object(progress))
        return;
    struct str bar = {0};
    double share = member_number(progress, "fraction"), rate = member_number(progress, "rate");
    if (!isnan(share) && look->colours) {
        job_text_bar(share, BAR, &bar);
        str_add(&bar, " ");
    }
    bool counts = *job_text_steps(job, steps) != '-';
    if (!isnan(share))
        str_addf(&bar, "%s%s", job_text_progress(job, 0, text), counts ? ", " : "");
    if (bar.n || counts)
        add_line(out, "progress", "%s%s", bar.n ? bar.at : "", counts ? steps : "");
    str_done(&bar);
    if (json_is_true(json_object_get(progress, "weak")))
        add_line(out, "", "This may not be the training; no estimate follows from it.");
    if (!isnan(rate))
        add_line(out, "speed", "%s steps per second", job_text_rate(rate, text));
    if (*job_text_eta(job, look->now, text) != '-' && *job_text_band(job, look->now, steps) != '-')
        add_line(out, "time left", "%s, likely %s", text, steps);
    else if (*text != '-')
        add_line(out, "time left", "%s", text);
    if (*text != '-')
        add_end(progress, look->now, out);
    if (*text != '-' && member_has(progress, "past_error"))
        add_line(out, "", "such estimates were off by %.0f %% on average",
                 100 * member_number(progress, "past_error"));
    if (*member_text(progress, "total_from"))
        add_line(out, "total", "from %s", member_text(progress, "total_from"));
    if (*member_text(progress, "diverged"))
        add_line(out, "loss", "%s: the training has diverged", member_text(progress, "diverged"));
    else if (!isnan(member_number(progress, "loss")))
        add_line(out, "loss", "%.6g", member_number(progress, "loss"));
    if (!isnan(member_number(progress, "value")) &&
        strcmp(member_text(progress, "metric"), "loss") != 0)
        add_line(out, member_text(progress, "metric"), "%.6g", member_number(progress, "value"));
}

/* What all attempts used, once the job is over. */
static void add_total_usage(const json_t *job, struct str *out)
{
    const json_t *attempts = json_object_get(job, "attempts");
    double cpu = 0, peak = 0;
    char time[JOB_TEXT_SIZE], memory[JOB_TEXT_SIZE];
    for (size_t i = 0; i < json_array_size(attempts); i++) {
        cpu += fmax(member_number(json_array_get(attempts, i), "cpu_s"), 0);
        peak = fmax(member_number(json_array_get(attempts, i), "memory_max_mb"), peak);
    }
    if (cpu > 0 || peak > 0)
        add_line(out, "used", "%s of CPU time, %s of memory at its peak",
                 job_text_duration(cpu, time), job_text_megabytes(peak, memory));
}

static void add_usage(const json_t *job, struct str *out)
{
    const json_t *usage = json_object_get(job, "usage");
    char buf[JOB_TEXT_SIZE];
    struct str text = {0};
    if (job_text_over(job))
        add_total_usage(job, out);
    if (job_text_over(job) || !json_is_object(usage))
        return;
    str_addf(&text, "%s of CPU time", job_text_duration(member_number(usage, "cpu_s"), buf));
    if (member_has(usage, "cpus"))
        str_addf(&text, ", now %s CPUs", job_text_units(member_number(usage, "cpus"), buf));
    if (member_has(usage, "memory_mb"))
        str_addf(&text, ", %s", job_text_megabytes(member_number(usage, "memory_mb"), buf));
    if (member_number(usage, "block_bytes") >= 1 << 20)
        str_addf(&text, ", %s of disk I/O",
                 job_text_megabytes(member_number(usage, "block_bytes") / (1 << 20), buf));
    if (member_number(usage, "net_bytes") >= 1 << 20)
        str_addf(&text, ", %s of network I/O",
                 job_text_megabytes(member_number(usage, "net_bytes") / (1 << 20), buf));
    if (member_integer(usage, "processes") > 0)
        str_addf(&text, ", %lld process%s", (long long)member_integer(usage, "processes"),
                 member_integer(usage, "processes") == 1 ? "" : "es");
    if (member_integer(usage, "threads") > 0)
        str_addf(&text, " with %lld thread%s", (long long)member_integer(usage, "threads"),
                 member_integer(usage, "threads") == 1 ? "" : "s");
    add_line(out, "used", "%s", text.at);
    str_done(&text);
}

/* An attempt that was stopped for the job's next one was not cancelled by anybody. */
static const char *attempt_state(const json_t *attempt)
{
    static const struct {
        const char *stop, *state;
    } stopped[] = {{"preempt", "preempted"},
                   {"move", "moved"},
                   {"resize", "resized"},
                   {"requeue", "requeued"},
                   {"shutdown", "shut down"}};
    const char *state = member_text(attempt, "state"), *stop = member_text(attempt, "stop");
    if (strcmp(state, "cancelled") != 0)
        return state;
    for (size_t i = 0; i < COUNT_OF(stopped); i++)
        if (!strcmp(stop, stopped[i].stop))
            return stopped[i].state;
    return state;
}

static void add_growth_part(struct str *out, const char *name, const json_t *point,
                            const char *member)
{
    if (member_has(point, member))
        str_addf(out, "%s%s %.3g %%", out->n ? ", " : "", name, 100 * member_number(point, member));
}

/* The last measurement of its growth by each resource, and earlier ones by CPU, newest first. */
static void add_growth(const json_t *job, usec_t now, struct str *out)
{
    const json_t *growth = json_object_get(job, "growth");
    size_t n = json_array_size(growth);
    const json_t *last = n ? json_array_get(growth, n - 1) : NULL;
    char when[JOB_TEXT_SIZE];
    struct str text = {0}, before = {0};
    if (!n)
        return;
    add_growth_part(&text, "CPU", last, "cpu");
    add_growth_part(&text, "memory", last, "memory");
    add_growth_part(&text, "block I/O", last, "block");
    add_growth_part(&text, "network", last, "network");
    add_line(out, "growth", "%s, per second on all of it; over %.3g s until %s",
             text.n ? text.at : "of no resource that it used", member_number(last, "span_s"),
             job_text_when(member_number(last, "at"), now, when));
    for (size_t i = n - 1; i-- > 0;)
        if (member_has(json_array_get(growth, i), "cpu"))
            str_addf(&before, "%s%.3g %%", before.n ? ", " : "",
                     100 * member_number(json_array_get(growth, i), "cpu"));
    if (before.n)
        add_line(out, "", "before that by CPU: %s", before.at);
    str_done(&text);
    str_done(&before);
}

static void add_attempts(const json_t *job, const struct job_details_look *look, struct str *out)
{
    static const struct grid_column columns[] = {
        {"  ATTEMPT", true, 0, 0}, {"STATE", false, 0, 0}, {"NODE", false, 6, 3},
        {"STARTED", true, 0, 2},   {"ENDED", true, 0, 1},  {"CODE", true, 0, 0},
        {"REASON", false, 10, 0},
    };
    const json_t *attempts = json_object_get(job, "attempts");
    struct grid_look shape = {.width = look->width, .colours = look->colours};
    char buf[JOB_TEXT_SIZE];
    struct grid t;
    if (!json_array_size(attempts))
        return;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(attempts); i++) {
        const json_t *a = json_array_get(attempts, i);
        grid_addf(&t, COLOUR_BOLD, "%lld", (long long)member_integer(a, "n"));
        grid_add(&t, job_text_state_colour(a), attempt_state(a));
        grid_add(&t, COLOUR_NONE, member_text(a, "node"));
        grid_add(&t, COLOUR_NONE, job_text_when(member_number(a, "started"), look->now, buf));
        grid_add(&t, COLOUR_NONE, job_text_when(member_number(a, "ended"), look->now, buf));
        if (member_integer(a, "signal"))
            grid_addf(&t, COLOUR_NONE, "signal %lld", (long long)member_integer(a, "signal"));
        else
            grid_add(&t, COLOUR_NONE, job_text_units(member_number(a, "code"), buf));
        grid_add(&t, COLOUR_NONE, member_text(a, "reason"));
    }
    str_add(out, "\n");
    grid_draw(&t, &shape, out);
    grid_done(&t);
}

/* Adds the last changes of its size, newest last. */
static void add_sizes(const json_t *job, const struct job_details_look *look, struct str *out)
{
    static const struct grid_column columns[] = {
        {"  SIZE SINCE", true, 0, 0}, {"CPUS", true, 0, 0}, {"WHY", false, 10, 0}};
    const json_t *sizes = json_object_get(job, "sizes");
    struct grid_look shape = {.width = look->width, .colours = look->colours};
    size_t n = json_array_size(sizes), first = n > SIZES_SHOWN ? n - SIZES_SHOWN : 0;
    char buf[JOB_TEXT_SIZE];
    struct grid t;
    if (!n)
        return;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = first; i < n; i++) {
        const json_t *s = json_array_get(sizes, i);
        grid_add(&t, COLOUR_NONE, job_text_when(member_number(s, "at"), look->now, buf));
        grid_add(&t, COLOUR_NONE, job_text_units(member_number(s, "cpus"), buf));
        grid_add(&t, COLOUR_NONE, member_text(s, "why"));
    }
    str_add(out, "\n");
    grid_draw(&t, &shape, out);
    grid_done(&t);
}

void job_details_add(const json_t *job, const struct job_details_look *look, struct str *out)
{
    add_head(job, look, out);
    if (*member_text(job, "reason"))
        add_line(out, "reason", "%s", member_text(job, "reason"));
    if (*member_text(job, "error"))
        add_line(out, "error", "%s", member_text(job, "error"));
    add_left_running(job, out);
    add_items(out, "waits for", json_object_get(job, "waits_for"), ", ");
    add_wishes(job, look->now, out);
    add_place(job, out);
    add_times(job, look->now, out);
    add_progress(job, look, out);
    add_usage(job, out);
    add_growth(job, look->now, out);
    add_lines(out, "standing", json_object_get(job, "standing"));
    if (*member_text(job, "log"))
        add_line(out, "log", "%s", member_text(job, "log"));
    add_attempts(job, look, out);
    add_sizes(job, look, out);
}
