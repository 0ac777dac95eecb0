/* Owns the measurement of growth efficiency.
 *
 *   P(t_i) = |E(t_i) - E(t_{i-1})| / (t_i - t_{i-1}),   G = P / R        (FlowCon, 4.1 and 4.2)
 *
 * E is the job's metric, divided by its first value because metrics differ in scale and the
 * threshold alpha is a percentage. R is the mean share of the node that the job used in the
 * interval: of its CPUs, of its memory, or of the bandwidth of its disk or network. G is then per
 * second and per share of the node. growth=peak divides it by the job's own peak of G so far.
 *
 * The interval is that between two values that the job has reported, of which there may be none
 * within an itval. A job that has used nothing of the resource, or whose use is not known, is not
 * measured. One that was not measured in the three intervals for which it has run is silent. */
#include "policy/share/measure.h"

#include <math.h>
#include <stdio.h>

#include "model/growth.h"

enum { SILENT_INTERVALS = 3 };

struct growth_how growth_read_params(const struct params *p)
{
    return (struct growth_how){
        .itval = param_usec(p, GROWTH_ITVAL),
        .scale = (enum growth_scale)p->v[GROWTH_SCALE].number,
        .resource = (enum growth_resource)p->v[GROWTH_RESOURCE].number,
        .bandwidth = p->v[GROWTH_BANDWIDTH].number * 1e6,
    };
}

/* The next measurement starts from this sample. */
static void begin_at(struct memo *m, const struct sample *from, enum growth_resource resource)
{
    m->i[2] = from->metric_at;
    m->d[0] = from->metric;
    m->d[1] = growth_amount(from, resource);
}

/* What growth_used() says about the time since the last measurement. */
static double share_seconds(const struct memo *m, const struct sample *last, const struct node *n,
                            const struct growth_how *how)
{
    double seconds = (double)(last->metric_at - m->i[2]) / (double)USEC_PER_SEC;
    return growth_used(how->resource, m->d[1], growth_amount(last, how->resource), seconds, n,
                       how->bandwidth);
}

/* Takes a measurement from what was seen of the job. */
static void take_measurement(struct growth *g, const struct history *h, const struct node *n,
                             const struct growth_how *how)
{
    struct memo *m = &g->memo;
    if (!(m->i[0] & GROWTH_SEEN))
        begin_at(m, &h->first, how->resource);
    m->i[0] |= GROWTH_SEEN;
    double used = share_seconds(m, &h->last, n, how);
    if (used < 0) /* it was restarted, which has moved its metric too */
        begin_at(m, &h->last, how->resource);
    /* A value that was reported before says nothing about the time since then. */
    if (h->last.metric_at <= m->i[2] || !(used > 0))
        return;
    double first = h->first.metric != 0 ? fabs(h->first.metric) : 1;
    double growth = fabs(h->last.metric - m->d[0]) / first / used;
    m->d[2] = growth > m->d[2] ? growth : m->d[2];
    m->d[3] = how->scale == GROWTH_BY_FIRST ? growth : m->d[2] > 0 ? growth / m->d[2] : 0;
    m->i[0] |= GROWTH_MEASURED;
    g->measured = g->fresh = true;
    g->g = m->d[3];
    begin_at(m, &h->last, how->resource);
}

void growth_measure(struct growth *g, const struct snapshot *s, uint32_t node,
                    const struct growth_how *how)
{
    const struct task *t = &s->tasks[g->task];
    if (t->history && !isnan(t->history->last.metric))
        take_measurement(g, t->history, &s->cluster->nodes[node], how);
    g->silent = !g->measured && task_run_time(t, s->now) >= SILENT_INTERVALS * how->itval;
}

/* ---- for people ------------------------------------------------------------ */

void growth_say_measure(const struct task *t, const struct growth_how *how, char *out, size_t size)
{
    static const char *const whole[] = {"all CPUs", "all memory", "the whole disk",
                                        "the whole network"};
    const struct memo *m = &t->memo[AXIS_SHARE];
    double percent = 100 * m->d[3];
    int digits = fabs(percent) < 1000 ? 3 : 15; /* no exponents that nobody reads */
    if (m->i[0] & GROWTH_MEASURED && how->scale == GROWTH_BY_PEAK)
        snprintf(out, size, "its growth is %.*g %% of its best", digits, percent);
    else if (m->i[0] & GROWTH_MEASURED)
        snprintf(out, size, "its growth is %.*g %% per second on %s of its node", digits,
                 digits > 3 ? round(percent) : percent, whole[how->resource]);
    else if (t->history && !isnan(t->history->last.metric))
        snprintf(out, size, "its growth has not been measured yet");
    else
        snprintf(out, size, "it has reported no metric yet");
}

/* The CPUs of the node that are shared, and by how many. */
static units_t shared_on(const struct snapshot *s, uint32_t node, uint32_t *n)
{
    const struct node *at = &s->cluster->nodes[node];
    units_t cpus = at->cpus - at->cpu_held;
    *n = 0;
    for (size_t i = 0; i < at->tasks.n; i++) {
        const struct task *t = &s->tasks[at->tasks.at[i]];
        if (!growth_is_shared(t))
            continue;
        cpus += t->n;
        ++*n;
    }
    return cpus;
}

void growth_say_limit(const struct snapshot *s, const struct task *t, char *out, size_t size)
{
    uint32_t n;
    double limit = (double)t->memo[AXIS_SHARE].i[3] / GROWTH_LIMIT_SCALE;
    double cpus = (double)shared_on(s, t->at.at[0].node, &n) / UNIT;
    if (n == 1)
        snprintf(out, size, "It is alone on its node and not limited.");
    else if (limit >= 1)
        snprintf(out, size, "It is not limited.");
    else
        snprintf(out, size, "It is limited to %.3g of the %g CPUs while others want the rest.",
                 fmin(limit * cpus, (double)t->job->max / UNIT), cpus);
}
