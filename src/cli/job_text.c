/* Owns the short texts about a job. */
#include "cli/job_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "store/job_state.h"

static char *unknown(char *buf)
{
    snprintf(buf, JOB_TEXT_SIZE, "-");
    return buf;
}

/* -1 when the server says something else. */
static int state_of(const json_t *job)
{
    return job_state_parse(member_text(job, "state"));
}

bool job_text_over(const json_t *job)
{
    int state = state_of(job);
    return state >= 0 && job_state_over((enum job_state)state);
}

static bool in_state(const json_t *job, enum job_state state)
{
    return state_of(job) == (int)state;
}

bool job_text_failed(const json_t *job)
{
    return in_state(job, JOB_FAILED) || in_state(job, JOB_TIMEOUT) || in_state(job, JOB_LOST);
}

char *job_text_state(const json_t *job, char *buf)
{
    const char *state = member_text(job, "state");
    if (member_flag(job, "paused") && in_state(job, JOB_RUNNING))
        snprintf(buf, JOB_TEXT_SIZE, "paused");
    else if (in_state(job, JOB_FAILED) && member_has(job, "code"))
        snprintf(buf, JOB_TEXT_SIZE, "failed (%d)", job_text_exit(job));
    else
        snprintf(buf, JOB_TEXT_SIZE, "%.40s", state);
    return buf;
}

enum colour job_text_state_colour(const json_t *job)
{
    static const enum colour colours[JOB_STATE_COUNT] = {
        [JOB_HELD] = COLOUR_BLUE,     [JOB_QUEUED] = COLOUR_YELLOW,   [JOB_STARTING] = COLOUR_GREEN,
        [JOB_RUNNING] = COLOUR_GREEN, [JOB_STOPPING] = COLOUR_YELLOW, [JOB_DONE] = COLOUR_DIM,
        [JOB_FAILED] = COLOUR_RED,    [JOB_CANCELLED] = COLOUR_DIM,   [JOB_TIMEOUT] = COLOUR_RED,
        [JOB_LOST] = COLOUR_RED,
    };
    int state = state_of(job);
    if (member_flag(job, "paused"))
        return COLOUR_BLUE;
    return state < 0 ? COLOUR_NONE : colours[state];
}

char *job_text_units(double units, char *buf)
{
    if (isnan(units))
        return unknown(buf);
    if (fabs(units) >= 1e15) {
        snprintf(buf, JOB_TEXT_SIZE, "%.3g", units);
        return buf;
    }
    int n = snprintf(buf, JOB_TEXT_SIZE, "%.2f", units);
    while (buf[n - 1] == '0')
        n--;
    buf[buf[n - 1] == '.' ? n - 1 : n] = '\0';
    return buf;
}

void job_text_add_counts(const json_t *states, struct str *out)
{
    const char *before = "";
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++) {
        if (!member_has(states, job_state_name(s)))
            continue;
        str_addf(out, "%s%lld %s", before, (long long)member_integer(states, job_state_name(s)),
                 job_state_name(s));
        before = ", ";
    }
}

char *job_text_cpus(const json_t *job, char *buf)
{
    char now[JOB_TEXT_SIZE], min[JOB_TEXT_SIZE], max[JOB_TEXT_SIZE];
    double least = member_number(job, "cpus_min"), most = member_number(job, "cpus_max");
    job_text_units(member_number(job, "cpus"), now);
    job_text_units(least, min);
    job_text_units(most, max);
    if (isnan(least) || isnan(most) || job_text_over(job))
        snprintf(buf, JOB_TEXT_SIZE, "%.20s", job_text_over(job) ? "-" : now);
    else if (least == most)
        snprintf(buf, JOB_TEXT_SIZE, "%.20s of %.20s", now, max);
    else
        snprintf(buf, JOB_TEXT_SIZE, "%.18s of %.18s-%.18s", now, min, max);
    return buf;
}

/* The percentage of a share, rounded down so that 100 means finished. */
static int percent_of(double share)
{
    return share >= 1 ? 100 : share <= 0 ? 0 : (int)(share * 100 + 1e-9);
}

void job_text_bar(double share, unsigned columns, struct str *out)
{
    static const char *const parts[] = {"░", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double filled = fmin(fmax(share, 0), 1) * columns;
    for (unsigned i = 0; i < columns; i++) {
        double part = filled - i;
        str_add(out, part >= 1 ? "█" : parts[part > 0 ? (int)(part * 8) : 0]);
    }
}

char *job_text_progress(const json_t *job, unsigned bar, char *buf)
{
    const json_t *progress = json_object_get(job, "progress");
    double share = member_number(progress, "fraction");
    char steps[JOB_TEXT_SIZE];
    struct str text = {0};
    if (isnan(share)) {
        if (isnan(member_number(progress, "step")))
            return unknown(buf);
        job_text_units(member_number(progress, "step"), steps);
        snprintf(buf, JOB_TEXT_SIZE, "step %.40s", steps);
        return buf;
    }
    /* No bar when it does not fit into the buffer. */
    if (bar && bar * strlen("█") + 8 < JOB_TEXT_SIZE) {
        job_text_bar(share, bar, &text);
        str_add(&text, " ");
    }
    bool weak = json_is_true(json_object_get(progress, "weak"));
    str_addf(&text, "%3d%%%s", percent_of(share), weak ? "?" : "");
    snprintf(buf, JOB_TEXT_SIZE, "%s", text.at);
    str_done(&text);
    return buf;
}

/* Appends "step 3 of 10", or "step 3" when the total is unknown. */
static void add_count(const json_t *progress, const char *word, const char *count,
                      const char *total, struct str *out)
{
    char a[JOB_TEXT_SIZE], b[JOB_TEXT_SIZE];
    if (!member_has(progress, count))
        return;
    job_text_units(member_number(progress, count), a);
    str_addf(out, "%s%s %s", out->n ? ", " : "", word, a);
    if (member_has(progress, total))
        str_addf(out, " of %s", job_text_units(member_number(progress, total), b));
}

char *job_text_steps(const json_t *job, char *buf)
{
    const json_t *progress = json_object_get(job, "progress");
    struct str text = {0};
    add_count(progress, "step", "step", "total", &text);
    add_count(progress, "epoch", "epoch", "epochs", &text);
    if (!text.n)
        return unknown(buf);
    snprintf(buf, JOB_TEXT_SIZE, "%s", text.at);
    str_done(&text);
    return buf;
}

char *job_text_loss(const json_t *job, char *buf)
{
    const json_t *progress = json_object_get(job, "progress");
    double loss = member_number(progress, "loss");
    if (*member_text(progress, "diverged")) {
        snprintf(buf, JOB_TEXT_SIZE, "%.8s!", member_text(progress, "diverged"));
        return buf;
    }
    if (isnan(loss))
        return unknown(buf);
    snprintf(buf, JOB_TEXT_SIZE, "%.4g", loss);
    return buf;
}

char *job_text_rate(double rate, char *buf)
{
    char digits[32];
    size_t used = 0;
    if (!(fabs(rate) >= 999.5 && fabs(rate) < 1e15)) {
        snprintf(buf, JOB_TEXT_SIZE, "%.3g", rate);
        return buf;
    }
    double unit = pow(10, floor(log10(fabs(rate))) - 2);
    int n = snprintf(digits, sizeof digits, "%.0f", round(rate / unit) * unit);
    for (int i = 0; i < n; i++) {
        buf[used++] = digits[i];
        if ((n - i) % 3 == 1 && i + 1 < n && digits[i] != '-')
            buf[used++] = ',';
    }
    buf[used] = '\0';
    return buf;
}

char *job_text_duration(double seconds, char *buf)
{
    usec_t t;
    if (isnan(seconds) || time_from_seconds(seconds, &t) < 0)
        return unknown(buf);
    return time_format(t, buf, JOB_TEXT_SIZE);
}

/* Seconds from a time of the API until now. */
static double since(double at, usec_t now)
{
    return time_seconds(now) - at;
}

char *job_text_time(const json_t *job, usec_t now, char *buf)
{
    char text[JOB_TEXT_SIZE];
    bool waits = in_state(job, JOB_QUEUED) || in_state(job, JOB_HELD);
    double run = member_number(job, "run_s");
    if (waits && !member_has(job, "started")) {
        double waited = fmax(since(member_number(job, "submitted"), now), 0);
        snprintf(buf, JOB_TEXT_SIZE, "waits %.40s", job_text_duration(waited, text));
        return buf;
    }
    return job_text_duration(run, buf);
}

char *job_text_eta(const json_t *job, usec_t now, char *buf)
{
    const json_t *progress = json_object_get(job, "progress");
    double left = -since(member_number(progress, "expected_end"), now);
    if (!in_state(job, JOB_RUNNING) || member_flag(job, "paused") || isnan(left))
        return unknown(buf);
    return job_text_duration(fmax(left, 0), buf);
}

char *job_text_band(const json_t *job, usec_t now, char *buf)
{
    const json_t *progress = json_object_get(job, "progress");
    double low = -since(member_number(progress, "expected_end_low"), now);
    double high = -since(member_number(progress, "expected_end_high"), now);
    char from[JOB_TEXT_SIZE], to[JOB_TEXT_SIZE];
    if (!in_state(job, JOB_RUNNING) || member_flag(job, "paused") || isnan(low) || isnan(high))
        return unknown(buf);
    snprintf(buf, JOB_TEXT_SIZE, "%.28s to %.28s", job_text_duration(fmax(low, 0), from),
             job_text_duration(fmax(high, 0), to));
    return buf;
}

int job_text_exit(const json_t *job)
{
    const json_t *attempts = json_object_get(job, "attempts");
    const json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);
    int64_t code = member_integer(job, "code"), killed = member_integer(last, "signal");
    if (in_state(job, JOB_DONE))
        return 0;
    if (killed > 0 && killed < 128)
        return 128 + (int)killed;
    return code > 0 && code < 256 ? (int)code : 1;
}

char *job_text_when(double at, usec_t now, char *buf)
{
    char text[JOB_TEXT_SIZE];
    double ago = since(at, now);
    if (isnan(at))
        return unknown(buf);
    if (fabs(ago) < 1)
        snprintf(buf, JOB_TEXT_SIZE, "now");
    else if (ago > 0)
        snprintf(buf, JOB_TEXT_SIZE, "%.40s ago", job_text_duration(ago, text));
    else
        snprintf(buf, JOB_TEXT_SIZE, "in %.40s", job_text_duration(-ago, text));
    return buf;
}

char *job_text_clock(double at, usec_t now, char *buf)
{
    struct tm when;
    time_t seconds = (time_t)(fabs(at) < 1e12 ? at : 0);
    double away = fabs(since(at, now));
    if (!(fabs(at) < 1e12) || !localtime_r(&seconds, &when))
        return unknown(buf);
    strftime(buf, JOB_TEXT_SIZE,
             away < 600     ? "%H:%M:%S"
             : away < 43200 ? "%H:%M"
                            : "%Y-%m-%d %H:%M",
             &when);
    return buf;
}

char *job_text_megabytes(double megabytes, char *buf)
{
    if (isnan(megabytes))
        return unknown(buf);
    if (megabytes < 1000)
        snprintf(buf, JOB_TEXT_SIZE, "%.0f MB", megabytes);
    else
        snprintf(buf, JOB_TEXT_SIZE, "%.1f GB", megabytes / 1024);
    return buf;
}

/* Appends ", 1.5 of 1-2 CPUs", or " on 2 CPUs, resizing to 1" when it holds a size that it may
 * no longer have. */
static void add_size(const json_t *job, struct str *out)
{
    char buf[JOB_TEXT_SIZE];
    double now = member_number(job, "cpus");
    double least = member_number(job, "cpus_min"), most = member_number(job, "cpus_max");
    if (!(now > 0 && (now < least || now > most))) {
        str_addf(out, ", %s CPUs", job_text_cpus(job, buf));
        return;
    }
    str_addf(out, " on %s CPU%s, resizing to ", job_text_units(now, buf), now == 1 ? "" : "s");
    if (least != most)
        str_addf(out, "%s-", job_text_units(least, buf));
    str_add(out, job_text_units(most, buf));
}

void job_text_add_name(const json_t *job, struct str *out)
{
    const json_t *array = json_object_get(job, "array");
    screen_add(out, member_text(job, "name"));
    if (json_is_object(array))
        str_addf(out, "[%lld]", (long long)member_integer(array, "index"));
}

void job_text_add_command(const json_t *words, struct str *out)
{
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        str_add(out, i ? " " : "");
        str_add_shell(out, word ? word : "");
    }
}

void job_text_add_parameters(const json_t *job, struct str *out)
{
    json_t *parameters = json_object_get(job, "parameters"), *value;
    const char *name;
    json_object_foreach(parameters, name, value)
    {
        const char *text = json_string_value(value);
        str_addf(out, "%s%s=%s", out->n ? " " : "", name, text ? text : "");
    }
}

void job_text_add_outcome(const json_t *job, struct str *out)
{
    char buf[JOB_TEXT_SIZE];
    str_addf(out, "Job %lld (", (long long)member_integer(job, "id"));
    job_text_add_name(job, out);
    str_add(out, "): ");
    screen_add(out, job_text_state(job, buf));
    if (!job_text_over(job))
        add_size(job, out);
    str_add(out, "\n");
}
