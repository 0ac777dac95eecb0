/* Owns the summary of a simulation: what follows from its per-job rows.
 * Times are summed as integers, so that a mean does not depend on the order of
 * the jobs nor drift with their number. */
#include "sim/result.h"

#include <math.h>

/* Wide enough for any number of times within USEC_LIMIT. */
__extension__ typedef __int128 usec_sum_t;

static double sum_mean_seconds(usec_sum_t sum, uint32_t n)
{
    return n ? (double)sum / ((double)n * (double)USEC_PER_SEC) : NAN;
}

static int usec_compare(const void *a, const void *b)
{
    usec_t x = *(const usec_t *)a, y = *(const usec_t *)b;
    return (x > y) - (x < y);
}

usec_t *result_completion_times(const struct sim_result *r)
{
    usec_t *times = xmalloc(r->finished * sizeof *times);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->jobs; i++)
        if (r->job[i].outcome == SIM_DONE)
            times[n++] = r->job[i].end - r->job[i].job->submit;
    qsort(times, n, sizeof *times, usec_compare);
    return times;
}

/* Nearest rank: the smallest value that at least `percent` of all do not
 * exceed, rank ceil(percent/100 x n). */
static double sorted_percentile(const usec_t *sorted, uint32_t n, unsigned percent)
{
    if (n == 0)
        return NAN;
    uint64_t rank = ((uint64_t)percent * n + 99) / 100;
    return time_seconds(sorted[rank - 1]);
}

bool result_met(const struct sim_job *j)
{
    return j->job->deadline != USEC_NEVER && j->outcome == SIM_DONE && j->end <= j->job->deadline;
}

double result_fairness(const struct sim_job *j)
{
    return j->outcome == SIM_DONE ? time_seconds(j->end - j->job->submit) / j->fair_s : NAN;
}

/* Shockwave's figures tolerate as much. */
static const double unfair_above = 1.1;

static void summarise_fairness(struct sim_result *r)
{
    uint32_t unfair = 0;
    r->worst_fairness = NAN;
    for (uint32_t i = 0; i < r->jobs; i++) {
        double ratio = result_fairness(&r->job[i]);
        r->worst_fairness = fmax(r->worst_fairness, ratio); /* ignores NAN */
        unfair += ratio > unfair_above;
    }
    r->unfair = r->finished ? (double)unfair / r->finished : NAN;
}

const char *result_outcome(enum sim_outcome outcome)
{
    switch (outcome) {
    case SIM_DONE:
        return "done";
    case SIM_NEVER:
        return "never_runnable";
    case SIM_UNFINISHED:
        return "unfinished";
    }
    return "unknown";
}

static void count_job(struct sim_result *r, const struct sim_job *j)
{
    r->finished += j->outcome == SIM_DONE;
    r->never += j->outcome == SIM_NEVER;
    r->unfinished += j->outcome == SIM_UNFINISHED;
    r->deadline_jobs += j->job->deadline != USEC_NEVER;
    r->deadline_met += result_met(j);
    r->starts += j->starts;
    r->preemptions += j->preemptions;
    r->migrations += j->moves;
    r->resizes += j->resizes;
    r->failures += j->failures;
}

static void summarise_times(struct sim_result *r)
{
    usec_sum_t jct = 0, wait = 0;
    usec_t first = USEC_NEVER, last = 0;
    for (uint32_t i = 0; i < r->jobs; i++) {
        const struct sim_job *j = &r->job[i];
        first = j->job->submit < first ? j->job->submit : first;
        if (j->outcome != SIM_DONE)
            continue;
        last = j->end > last ? j->end : last;
        jct += j->end - j->job->submit;
        wait += j->wait;
    }
    r->makespan_s = r->finished ? time_seconds(last - first) : NAN;
    r->mean_jct_s = sum_mean_seconds(jct, r->finished);
    r->mean_wait_s = sum_mean_seconds(wait, r->finished);
}

void result_summarise(struct sim_result *r)
{
    r->finished = r->never = r->unfinished = r->deadline_jobs = r->deadline_met = 0;
    r->starts = r->preemptions = r->migrations = r->resizes = r->failures = 0;
    for (uint32_t i = 0; i < r->jobs; i++)
        count_job(r, &r->job[i]);
    summarise_times(r);
    summarise_fairness(r);
    AUTO_FREE usec_t *times = result_completion_times(r);
    r->median_jct_s = sorted_percentile(times, r->finished, 50);
    r->p95_jct_s = sorted_percentile(times, r->finished, 95);
    r->p99_jct_s = sorted_percentile(times, r->finished, 99);
}

void result_done(struct sim_result *r)
{
    free(r->job);
    r->job = NULL;
    r->jobs = 0;
    VEC_DONE(&r->segments);
    VEC_DONE(&r->samples);
    free(r->node);
    r->node = NULL;
    r->nodes = 0;
    VEC_DONE(&r->node_samples);
    VEC_DONE(&r->moves);
}
