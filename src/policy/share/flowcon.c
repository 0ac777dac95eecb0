/* flowcon: CPU shares on a node follow the jobs' growth efficiency G: a job that learns fast
 * gets more, and one that has nearly converged gets less.
 *
 * On each node, every itval and whenever a job joins or leaves (the listeners of algorithm 2,
 * which also reset itval):
 * - G < alpha: new -> watching -> completing; G >= alpha: back to new.
 * - If all jobs are completing, every limit is 1 (free competition) and itval doubles.
 * - Otherwise the limit of a new job is G/sum G, that of a watching one stays, and that of a
 *   completing one is the larger of G/sum G and 1/(beta n). Limits are soft.
 * A job that is alone, or was not measured yet, has the limit 1 and counts as 1 in sum G. One that
 * was not measured in its first three intervals is left out of lists, sum and the test for free
 * competition, and has the limit 1/n.
 *
 * Source: Zheng, "Efficient resource management for deep learning applications with virtual
 * containers" (thesis), 4.1 and algorithms 1 and 2; growth is measured in measure.c. Deviations:
 * - E is divided by its first value, because alpha is a percentage and metrics differ in scale.
 * - The thesis does not say what G is before the first measurement, nor what becomes of a job
 *   that reports nothing.
 * - The floor 1/(beta n) also applies to new jobs, for which the listing has none.
 * - A job that has reported nothing new keeps its G and its list.
 * - The rule runs in the server for all nodes, not on each worker. */
#include <stdio.h>

#include "policy/policies.h"
#include "policy/share/measure.h"

enum { ALPHA = GROWTH_PARAMS };

static void sort_into_lists(const struct snapshot *s, struct growth *g, uint32_t n, double alpha)
{
    for (uint32_t i = 0; i < n; i++) {
        enum growth_list list = growth_list(&g[i].memo);
        if (g[i].silent)
            list = GROWTH_UNMEASURED;
        else if (!g[i].measured || g[i].g >= alpha || list == GROWTH_UNMEASURED)
            list = GROWTH_NEW;
        else if (g[i].fresh && list < GROWTH_COMPLETING)
            list++;
        growth_enter(&g[i], s, list);
    }
}

/* Whether no job is new or watched. */
static bool all_completing(const struct growth *g, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!g[i].silent && growth_list(&g[i].memo) != GROWTH_COMPLETING)
            return false;
    return true;
}

static double sum_of_growth(const struct growth *g, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!g[i].silent)
            sum += g[i].measured ? g[i].g : 1;
    return sum;
}

static double limit_of(const struct growth *g, uint32_t n, double sum, double floor)
{
    if (n > 1 && g->measured && !g->silent && growth_list(&g->memo) == GROWTH_WATCHING)
        return (double)g->memo.i[3] / GROWTH_LIMIT_SCALE;
    return growth_limit(g, n, sum, floor);
}

static void rule(const struct snapshot *s, const struct params *p, struct growth *g, uint32_t n,
                 usec_t *interval)
{
    sort_into_lists(s, g, n, p->v[ALPHA].number);
    bool compete = all_completing(g, n);
    double sum = sum_of_growth(g, n), floor = 1 / (p->v[GROWTH_BETA].number * n);
    for (uint32_t i = 0; i < n; i++)
        g[i].limit = compete ? 1 : limit_of(&g[i], n, sum, floor);
    if (compete && *interval < USEC_LIMIT / 4)
        *interval *= 2;
}

static void share_flowcon(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct growth_how how = growth_read_params(p);
    growth_run(s, p, &how, rule, plan);
}

static bool describe_flowcon(const struct snapshot *s, const struct params *p, uint32_t task,
                             struct remark *out)
{
    static const char *const names[] = {"new", "watching", "completing", "unmeasured"};
    static const char *const meanings[] = {"in the list of new jobs",
                                           "in the list of jobs to watch",
                                           "in the list of completing jobs", "in no list"};
    struct growth_how how = growth_read_params(p);
    const struct task *t = &s->tasks[task];
    const struct memo *m = &t->memo[AXIS_SHARE];
    enum growth_list list = growth_list(m);
    char span[32], where[80], measure[96], limit[80], alpha[40] = "";
    if (!growth_is_shared(t))
        return false;
    growth_say_measure(t, &how, measure, sizeof measure);
    growth_say_limit(s, t, limit, sizeof limit);
    if (m->i[0] & GROWTH_MEASURED)
        snprintf(alpha, sizeof alpha, ", %s alpha of %g %%",
                 m->d[3] < p->v[ALPHA].number ? "below the" : "not below the",
                 100 * p->v[ALPHA].number);
    if (s->now - m->i[1] >= USEC_PER_SEC)
        snprintf(where, sizeof where, "has been %s for %s", meanings[list],
                 time_format(s->now - m->i[1], span, sizeof span));
    else
        snprintf(where, sizeof where, "is %s", meanings[list]);
    snprintf(out->list, sizeof out->list, "%s", names[list]);
    snprintf(out->text, sizeof out->text, "Under flowcon it %s: %s%s. %s", where, measure, alpha,
             limit);
    return true;
}

static const struct param params[] = {
    GROWTH_PARAM_TABLE,
    [ALPHA] = {"alpha", PARAM_PERCENT, "5%", 0, 10000, NULL,
               "a job whose growth is below this is slowing down"},
    {0},
};

const struct policy policy_flowcon = {
    .axis = AXIS_SHARE,
    .name = "flowcon",
    .summary = "CPU shares follow each job's growth efficiency",
    .rule =
        "Growth efficiency G is the change of a job's metric, as a share of its first value, per "
        "second and per share of the node's CPUs used. Every itval, and when a job joins or leaves "
        "the node, each job with G < alpha goes from new to watching to completing; one with G >= "
        "alpha is new again. growth=peak takes G as a share of the job's own peak, and resource= "
        "measures it by memory or I/O.\n\n"
        "If all jobs are completing, they compete freely and itval doubles. Otherwise the limit "
        "of a new job is G/sum G, that of a watching one stays, and that of a completing one is "
        "the larger of G/sum G and 1/(beta n). Limits are soft: what is not used goes to others. "
        "A job that is alone or has not been measured yet has no limit; one that reports no metric "
        "for three intervals gets 1/n. Jobs request their minimum, so that more of them run on a "
        "node.",
    .source = "Zheng, Efficient resource management for deep learning applications with virtual "
              "containers (thesis), FlowCon, 4.1 and 5.1",
    .params = params,
    .needs_metric = true,
    .soft = true,
    .decide = share_flowcon,
    .describe = describe_flowcon,
};
