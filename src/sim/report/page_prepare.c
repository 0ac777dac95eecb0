/* Owns the scale of a report: its time origin, its tick, and how much of a
 * long trace it lists. A report of seventy thousand jobs under five policies
 * stays at about 15 MB. */
#include "sim/report/page_prepare.h"

enum { LONG_ROWS = 100000 };
#define LONG_SPAN (1000000 * USEC_PER_SEC)

/* Times seen, and whether one of them is no whole second. */
struct span {
    usec_t first, last;
    bool whole;
};

static void span_see(struct span *s, usec_t t)
{
    if (t == USEC_NEVER)
        return;
    s->first = t < s->first ? t : s->first;
    s->last = t > s->last ? t : s->last;
    s->whole = s->whole && t % USEC_PER_SEC == 0;
}

static void see_result(const struct sim_result *r, struct span *all)
{
    struct span lengths = {0, 0, true};
    for (uint32_t i = 0; i < r->jobs; i++) {
        const struct sim_job *j = &r->job[i];
        span_see(all, j->job->submit);
        span_see(all, j->start);
        span_see(all, j->end);
        span_see(&lengths, j->wait);
        span_see(&lengths, j->run);
        span_see(&lengths, j->job->deadline);
    }
    for (size_t i = 0; i < r->segments.n; i++) {
        span_see(all, r->segments.at[i].from);
        span_see(all, r->segments.at[i].to);
    }
    for (size_t i = 0; i < r->samples.n; i++)
        span_see(all, r->samples.at[i].at);
    all->whole = all->whole && lengths.whole;
}

static void choose_tick(struct report *p)
{
    struct span all = {USEC_NEVER, 0, true};
    uint64_t rows = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        see_result(&p->r[i], &all);
        rows += p->r[i].jobs;
    }
    p->origin = all.first == USEC_NEVER ? 0 : all.first;
    p->end = all.last > p->origin ? all.last : p->origin;
    p->exact = all.whole && p->origin % USEC_PER_SEC == 0;
    bool coarse = rows > LONG_ROWS && p->end - p->origin > LONG_SPAN;
    p->tick = p->exact || coarse ? USEC_PER_SEC : USEC_PER_SEC / 1000;
}

static uint32_t divide_up(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* How many bars each job has, over all policies. */
static int count_bars(const struct report *p, uint32_t *bars, struct err *err)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->r[i].segments.n; k++) {
            uint32_t job = p->r[i].segments.at[k].job;
            if (job >= p->r[i].jobs)
                return err_set(err, ERR_INTERNAL, "policy %s: segment %zu is of job %u of %u",
                               p->r[i].policy, k, job, p->r[i].jobs);
            bars[job]++;
        }
    return 0;
}

static int choose_strides(struct report *p, struct err *err)
{
    uint32_t jobs = p->r[0].jobs;
    AUTO_FREE uint32_t *bars = xcalloc(jobs, sizeof *bars);
    if (count_bars(p, bars, err) < 0)
        return -1;
    uint32_t by_name = divide_up(jobs, REPORT_NAMES_MOST);
    uint32_t by_row = divide_up((uint64_t)jobs * p->n, REPORT_ROWS_MOST);
    p->stride = by_name > by_row ? by_name : by_row;
    p->stride = p->stride ? p->stride : 1;
    for (p->gantt_stride = p->stride;; p->gantt_stride *= 2) {
        uint64_t sum = 0;
        for (uint64_t job = 0; job < jobs; job += p->gantt_stride)
            sum += bars[job];
        if (sum <= REPORT_SEGMENTS_MOST || p->gantt_stride >= jobs)
            return 0;
    }
}

static void choose_units(struct report *p)
{
    p->per_unit = UNIT;
    for (uint32_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->r[i].segments.n; k++)
            if (report_units(&p->r[i].segments.at[k]) % UNIT)
                p->per_unit = 1;
        for (uint32_t k = 0; k < p->r[i].jobs; k++)
            if (p->r[i].job[k].job->req % UNIT)
                p->per_unit = 1;
    }
}

int report_prepare(struct report *p, struct err *err)
{
    for (uint32_t i = 1; i < p->n; i++)
        if (p->r[i].jobs != p->r[0].jobs)
            return err_set(err, ERR_INTERNAL, "policies %s and %s ran different traces",
                           p->r[0].policy, p->r[i].policy);
    choose_tick(p);
    choose_units(p);
    return choose_strides(p, err);
}
