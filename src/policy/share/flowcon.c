/* flowcon: CPU shares on a node follow the jobs' growth efficiency G: a job that learns fast
 * gets more, and one that has nearly converged gets less.
 *
 * On each node, every itval and whenever a job joins or leaves (the listeners of algorithm 2,
 * which also reset itval):
 * - G < alpha: new -> watching -> completing; G >= alpha: back to new.
 * - If all jobs are completing, every limit is 1 (free competition) and itval doubles.
 * - Otherwise the limit of a new job is G/sum G, that of a watching one stays, and that of a
 *   completing one is the larger of G/sum G and 1/(beta n). Limits are soft.
 * A job that has not been measured yet, or is alone, has the limit 1.
 *
 * Source: Zheng, "Efficient resource management for deep learning applications with virtual
 * containers" (thesis), 4.1 and algorithms 1 and 2. Deviations: alpha is a percentage, but G
 * has the scale of the job's metric, so G is taken as a share of the job's own peak (growth.c);
 * the floor 1/(beta n) also applies to new jobs, for which the thesis has none. */
#include <stdio.h>

#include "policy/policies.h"
#include "policy/share/growth.h"

enum { ALPHA, ITVAL, BETA };

static void sort_into_lists(const struct snapshot *s, struct growth *g, uint32_t n, double alpha)
{
    for (uint32_t i = 0; i < n; i++) {
        enum growth_list list = growth_list(&g[i].memo);
        if (!g[i].measured || g[i].g >= alpha)
            list = GROWTH_NEW;
        else if (g[i].fresh && list < GROWTH_COMPLETING)
            list++;
        growth_enter(&g[i], s, list);
    }
}

static bool all_completing(const struct growth *g, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (growth_list(&g[i].memo) != GROWTH_COMPLETING)
            return false;
    return true;
}

static void set_limits(struct growth *g, uint32_t n, double beta)
{
    double sum = 0, floor = 1 / (beta * n);
    for (uint32_t i = 0; i < n; i++)
        sum += g[i].measured ? g[i].g : 1;
    for (uint32_t i = 0; i < n; i++) {
        double share = sum > 0 ? g[i].g / sum : 1;
        if (!g[i].measured || n == 1)
            g[i].limit = 1;
        else if (growth_list(&g[i].memo) == GROWTH_WATCHING)
            g[i].limit = (double)g[i].memo.i[3] / GROWTH_LIMIT_SCALE;
        else
            g[i].limit = share > floor ? share : floor;
    }
}

static void rule(const struct snapshot *s, const struct params *p, struct growth *g, uint32_t n,
                 usec_t *interval)
{
    sort_into_lists(s, g, n, p->v[ALPHA].number);
    if (!all_completing(g, n)) {
        set_limits(g, n, p->v[BETA].number);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        g[i].limit = 1;
    *interval = *interval < USEC_LIMIT / 4 ? *interval * 2 : *interval;
}

static void share_flowcon(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    growth_run(s, p, param_usec(p, ITVAL), rule, plan);
}

static bool describe_flowcon(const struct snapshot *s, const struct params *p, uint32_t task,
                             struct remark *out)
{
    static const char *const names[] = {"new", "watching", "completing"};
    static const char *const meanings[] = {"new jobs", "jobs to watch", "completing jobs"};
    const struct task *t = &s->tasks[task];
    const struct memo *m = &t->memo[AXIS_SHARE];
    enum growth_list list = growth_list(m);
    char span[32], since[48] = "", measure[64], limit[96], alpha[48] = "";
    if (!growth_is_shared(t))
        return false;
    growth_say_measure(t, measure, sizeof measure);
    growth_say_limit(s, t, limit, sizeof limit);
    if (m->i[0] & GROWTH_MEASURED)
        snprintf(alpha, sizeof alpha, ", %s alpha of %g %%",
                 m->d[3] < p->v[ALPHA].number ? "below the" : "not below the",
                 100 * p->v[ALPHA].number);
    if (s->now - m->i[1] >= USEC_PER_SEC)
        snprintf(since, sizeof since, ", for %s", time_format(s->now - m->i[1], span, sizeof span));
    snprintf(out->list, sizeof out->list, "%s", names[list]);
    snprintf(out->text, sizeof out->text, "Under flowcon it is in the list of %s%s: %s%s. %s",
             meanings[list], since, measure, alpha, limit);
    return true;
}

static const struct param params[] = {
    [ALPHA] = {"alpha", PARAM_PERCENT, "5%", 0, 100, NULL,
               "a job whose growth is below this share of its peak is slowing down"},
    [ITVAL] = {"itval", PARAM_DURATION, "20s", 0.001, 86400, NULL, "time between two measurements"},
    [BETA] = {"beta", PARAM_NUMBER, "2", 1, 1000, NULL, "the floor is 1/(beta x jobs on the node)"},
    {0},
};

const struct policy policy_flowcon = {
    .axis = AXIS_SHARE,
    .name = "flowcon",
    .summary = "CPU shares follow each job's growth efficiency",
    .rule =
        "Growth efficiency G is the change of a job's metric per second and per CPU used, as a "
        "share of its own peak so far. Every itval, and when a job joins or leaves the node, each "
        "job with G < alpha goes from new to watching to completing; one with G >= alpha is new "
        "again.\n\n"
        "If all jobs are completing, they compete freely and itval doubles. Otherwise the limit "
        "of a new job is G/sum G, that of a watching one stays, and that of a completing one is "
        "the larger of G/sum G and 1/(beta n). Limits are soft: what is not used goes to others. "
        "A job that is alone or has not been measured yet has no limit. Jobs request their "
        "minimum, so that more of them run on a node.",
    .source = "Zheng, Efficient resource management for deep learning applications with virtual "
              "containers (thesis), FlowCon, 4.1 and 5.1",
    .params = params,
    .needs_metric = true,
    .soft = true,
    .decide = share_flowcon,
    .describe = describe_flowcon,
};
