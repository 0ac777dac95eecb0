/* Owns the curves of the report: completion-time distribution, queue and
 * utilisation over time, each in REPORT_POINTS_MOST numbers at most. */
#include "sim/report/page_curves.h"

#include <math.h>

#include "sim/report/figure.h"

/* The slow end of the distribution is what a reader zooms into: its last jobs
 * are all kept. */
enum { CDF_EVEN = 1200, CDF_TAIL = 200, SLICES = REPORT_POINTS_MOST / 3 };

typedef VEC(int64_t) numbers_t;

/* Differences are shorter than the numbers themselves. */
static void push_step(numbers_t *v, int64_t value, int64_t *last)
{
    VEC_PUSH(v, value - *last);
    *last = value;
}

void report_add_cdf(struct str *s, const struct report *p, const struct sim_result *r)
{
    AUTO_FREE usec_t *times = result_completion_times(r);
    uint32_t n = r->finished, tail = n > CDF_TAIL ? n - CDF_TAIL : 0;
    uint32_t step = n > CDF_EVEN + CDF_TAIL ? (tail + CDF_EVEN - 1) / CDF_EVEN : 1;
    numbers_t at = {0}, rank = {0};
    int64_t last_at = 0, last_rank = 0;
    for (uint32_t i = 0; i < n; i += i < tail && i + step <= tail ? step : 1) {
        push_step(&at, report_duration(p, times[i]), &last_at);
        push_step(&rank, i + 1, &last_rank);
    }
    str_add(s, ",\"cdf\":{\"n\":");
    figure_add_int(s, (int64_t)at.n);
    figure_add_column(s, "at", at.at, at.n);
    figure_add_column(s, "rank", rank.at, rank.n);
    str_add(s, "}");
    VEC_DONE(&at);
    VEC_DONE(&rank);
}

typedef double (*sample_value)(const struct sim_sample *sample);

static double sample_queue(const struct sim_sample *sample)
{
    return sample->waiting;
}

/* In hundredths of a percent. */
static double sample_used(const struct sim_sample *sample)
{
    return round(sample->used * 1e4);
}

static void add_samples(struct str *s, const struct report *p, const struct sim_result *r,
                        sample_value value)
{
    numbers_t at = {0}, v = {0};
    int64_t last = 0;
    for (size_t i = 0; i < r->samples.n; i++) {
        push_step(&at, report_ticks(p, r->samples.at[i].at), &last);
        VEC_PUSH(&v, (int64_t)value(&r->samples.at[i]));
    }
    figure_add_column(s, "at", at.at, at.n);
    figure_add_column(s, "v", v.at, v.n);
    VEC_DONE(&at);
    VEC_DONE(&v);
}

struct slice {
    double lo, hi, sum, time;
};

/* Adds a value that held during [from, to) to the slices that it touches. */
static void slice_value(struct slice *slices, double width, double from, double to, double v)
{
    for (unsigned k = (unsigned)(from / width); k < SLICES && k * width < to; k++) {
        double begin = fmax(from, k * width), end = fmin(to, (k + 1) * width);
        if (end <= begin)
            continue;
        struct slice *slice = &slices[k];
        slice->lo = slice->time > 0 ? fmin(slice->lo, v) : v;
        slice->hi = slice->time > 0 ? fmax(slice->hi, v) : v;
        slice->sum += v * (end - begin);
        slice->time += end - begin;
    }
}

static void add_slices(struct str *s, const struct report *p, const struct sim_result *r,
                       sample_value value)
{
    struct slice slices[SLICES] = {0};
    int64_t lo[SLICES], hi[SLICES], mean[SLICES];
    double width = (double)(p->end - p->origin) / SLICES;
    for (size_t i = 0; i < r->samples.n; i++) {
        const struct sim_sample *now = &r->samples.at[i];
        usec_t to = i + 1 < r->samples.n ? now[1].at : p->end;
        slice_value(slices, width, (double)(now->at - p->origin), (double)(to - p->origin),
                    value(now));
    }
    for (unsigned k = 0; k < SLICES; k++) {
        lo[k] = (int64_t)slices[k].lo;
        hi[k] = (int64_t)slices[k].hi;
        mean[k] = slices[k].time > 0 ? llround(slices[k].sum / slices[k].time * 10) : 0;
    }
    str_addf(s, ",\"slices\":%d", SLICES);
    figure_add_column(s, "lo", lo, SLICES);
    figure_add_column(s, "hi", hi, SLICES);
    figure_add_column(s, "mean10", mean, SLICES);
}

static void add_curve(struct str *s, const struct report *p, const struct sim_result *r,
                      const char *name, sample_value value)
{
    str_addf(s, ",\"%s\":{\"n\":", name);
    figure_add_int(s, (int64_t)r->samples.n);
    if (r->samples.n > REPORT_POINTS_MOST && p->end > p->origin)
        add_slices(s, p, r, value);
    else if (r->samples.n)
        add_samples(s, p, r, value);
    str_add(s, "}");
}

void report_add_series(struct str *s, const struct report *p, const struct sim_result *r)
{
    add_curve(s, p, r, "queue", sample_queue);
    add_curve(s, p, r, "used", sample_used);
}
