/* Owns the chart of allocations for a terminal. Each job has a row, each column
 * stands for the same span of time and shows what the job held for most of it:
 * a digit for whole units, '+' for ten and more; where jobs share the CPUs of a
 * node in fractions, tenths of a CPU. '.' is waiting, '|' the deadline. */
#include "sim/report/result_gantt.h"

#include <math.h>
#include <string.h>

#include "sim/report/result_text.h"

enum { COLUMNS = 72, ROWS = 64, NAME = 16 };

struct chart {
    const struct sim_result *r;
    usec_t from, step; /* of a column */
    bool tenths;
};

/* 1, 2 or 5 times a power of ten seconds, so that the axis reads well. */
static usec_t round_up(double seconds)
{
    double power = pow(10, floor(log10(seconds > 0.001 ? seconds : 0.001)));
    double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        if (steps[i] * power >= seconds * (1 - 1e-9))
            return llround(steps[i] * power * (double)USEC_PER_SEC);
    return llround(10 * power * (double)USEC_PER_SEC);
}

static struct chart chart_of(const struct sim_result *r)
{
    struct chart c = {.r = r, .from = USEC_NEVER};
    usec_t to = 0;
    for (uint32_t i = 0; i < r->jobs; i++)
        if (r->job[i].job->submit < c.from)
            c.from = r->job[i].job->submit;
    for (size_t i = 0; i < r->segments.n; i++) {
        to = r->segments.at[i].to > to ? r->segments.at[i].to : to;
        c.tenths = c.tenths || fmod(r->segments.at[i].used, UNIT) != 0;
    }
    c.step = round_up(time_seconds(to > c.from ? to - c.from : 1) / COLUMNS);
    return c;
}

static char mark(const struct chart *c, double used)
{
    long n = c->tenths ? lround(used * 10 / UNIT) : lround(ceil(used / UNIT));
    return n <= 0 ? '0' : n < 10 ? (char)('0' + n) : '+';
}

/* What was over before it reached the middle of a column. */
static void draw_brief(const struct chart *c, uint32_t job, char *row)
{
    for (size_t k = 0; k < c->r->segments.n; k++) {
        const struct sim_segment *s = &c->r->segments.at[k];
        usec_t i = (s->from - c->from) / c->step;
        if (s->job == job && i < COLUMNS && (row[i] == ' ' || row[i] == '.'))
            row[i] = mark(c, s->used);
    }
}

/* What the job held at the middle of each column. */
static void draw_job(const struct chart *c, uint32_t job, char *row)
{
    const struct sim_job *j = &c->r->job[job];
    memset(row, ' ', COLUMNS);
    row[COLUMNS] = '\0';
    for (int i = 0; i < COLUMNS; i++) {
        usec_t at = c->from + i * c->step + c->step / 2;
        if (at >= j->job->submit && at < j->end)
            row[i] = '.';
    }
    for (size_t k = 0; k < c->r->segments.n; k++) {
        const struct sim_segment *s = &c->r->segments.at[k];
        for (int i = 0; s->job == job && i < COLUMNS; i++) {
            usec_t at = c->from + i * c->step + c->step / 2;
            if (at >= s->from && at < s->to)
                row[i] = mark(c, s->used);
        }
    }
    if (strspn(row, " .") == COLUMNS)
        draw_brief(c, job, row);
    usec_t due = (j->job->deadline - c->from) / c->step;
    if (j->job->deadline != USEC_NEVER && due >= 0 && due < COLUMNS)
        row[due] = '|';
}

static void draw_axis(const struct chart *c, FILE *out)
{
    char text[32];
    fprintf(out, "%*s", NAME + 1, "");
    for (int i = 0; i < COLUMNS; i += 20)
        fprintf(out, "%-10s%s", i ? time_format(i * c->step, text, sizeof text) : "0",
                i + 20 < COLUMNS ? "+         " : "+\n");
}

void result_gantt(const struct sim_result *r, FILE *out)
{
    struct chart c = chart_of(r);
    char row[COLUMNS + 1], text[32];
    uint32_t shown = r->jobs < ROWS ? r->jobs : ROWS;
    fprintf(out, "%s (a column is %s%s)\n", r->policy, time_format(c.step, text, sizeof text),
            c.tenths ? ", digits are tenths of a CPU" : "");
    for (uint32_t i = 0; i < shown; i++) {
        draw_job(&c, i, row);
        size_t n = strlen(row);
        while (n && row[n - 1] == ' ')
            row[--n] = '\0';
        uint32_t width = result_print_name(r->job[i].job->name, NAME, out);
        fprintf(out, "%*s %s\n", (int)(NAME - width), "", row);
    }
    draw_axis(&c, out);
    if (shown < r->jobs)
        fprintf(out, "(%u more jobs are not shown)\n", r->jobs - shown);
}
