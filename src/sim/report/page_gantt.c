/* Owns the bars of the Gantt chart: those of each job together and in time,
 * each told by its distance from the one before. */
#include "sim/report/page_gantt.h"

#include "sim/report/figure.h"

/* The segments that the chart shows, by job; those of one job keep their
 * order. */
static size_t sort_by_job(const struct report *p, const struct sim_result *r,
                          struct sim_segment *sorted)
{
    AUTO_FREE size_t *place = xcalloc((size_t)r->jobs + 1, sizeof *place);
    for (size_t i = 0; i < r->segments.n; i++)
        if (r->segments.at[i].job % p->gantt_stride == 0)
            place[r->segments.at[i].job + 1]++;
    for (uint32_t i = 0; i < r->jobs; i++)
        place[i + 1] += place[i];
    size_t n = place[r->jobs];
    for (size_t i = 0; i < r->segments.n; i++)
        if (r->segments.at[i].job % p->gantt_stride == 0)
            sorted[place[r->segments.at[i].job]++] = r->segments.at[i];
    return n;
}

enum bar_column { BAR_JOB, BAR_GAP, BAR_LENGTH, BAR_UNITS, BAR_NODE, BAR_COLUMNS };

/* "job" steps through the list of jobs; "gap" is the time since the end of the
 * job's bar before, or since its submission. */
static const char *const bar_names[BAR_COLUMNS] = {"job", "gap", "length", "units", "node"};

static void fill_bar(const struct report *p, const struct sim_result *r,
                     const struct sim_segment *s, const struct sim_segment *before,
                     int64_t bar[BAR_COLUMNS])
{
    bool first = !before || before->job != s->job;
    usec_t since = first ? r->job[s->job].job->submit : before->to;
    bar[BAR_JOB] = (s->job - (before ? before->job : 0)) / p->stride;
    bar[BAR_GAP] = report_ticks(p, s->from) - report_ticks(p, since);
    bar[BAR_LENGTH] = report_ticks(p, s->to) - report_ticks(p, s->from);
    bar[BAR_UNITS] = report_units(s) / p->per_unit;
    bar[BAR_NODE] = s->node;
}

void report_add_segments(struct str *s, const struct report *p, const struct sim_result *r)
{
    AUTO_FREE struct sim_segment *sorted = xmalloc(r->segments.n * sizeof *sorted);
    size_t n = sort_by_job(p, r, sorted);
    /* Only when one job alone has too many: its bars end early. */
    size_t kept = n > REPORT_SEGMENTS_MOST ? REPORT_SEGMENTS_MOST : n;
    AUTO_FREE int64_t *values = xmalloc(kept * BAR_COLUMNS * sizeof *values);
    for (size_t i = 0; i < kept; i++) {
        int64_t bar[BAR_COLUMNS];
        fill_bar(p, r, &sorted[i], i ? &sorted[i - 1] : NULL, bar);
        for (unsigned c = 0; c < BAR_COLUMNS; c++)
            values[c * kept + i] = bar[c];
    }
    str_add(s, ",\"segments\":{\"n\":");
    figure_add_int(s, (int64_t)kept);
    str_add(s, ",\"recorded\":");
    figure_add_int(s, (int64_t)r->segments.n);
    str_addf(s, ",\"cut\":%s", kept < n ? "true" : "false");
    for (unsigned c = 0; c < BAR_COLUMNS; c++)
        figure_add_column(s, bar_names[c], values + c * kept, kept);
    str_add(s, "}");
}
