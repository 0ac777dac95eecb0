/* target: a job whose metric has reached its target falls to the floor of 1/(beta n) of its
 * node; the others share by growth efficiency. If the metric gets worse than the target again,
 * the job shares again. This happens on each node every itval, and whenever a job joins or
 * leaves it.
 *
 * A job that is alone, or was not measured yet, has no limit; one that was not measured in its
 * first three intervals has 1/n.
 *
 * The first value shows whether a metric falls or rises towards its target: if a job starts
 * above its target, its metric falls.
 *
 * Source: Zheng et al., "Target-based resource allocation for deep learning
 * applications in a multi-tenancy system" (TRADL, 2019). */
#include <math.h>
#include <stdio.h>

#include "policy/policies.h"
#include "policy/share/measure.h"

static bool reached(const struct task *t)
{
    double target = t->job->target;
    if (isnan(target) || !t->history || isnan(t->history->first.metric))
        return false;
    double now = t->history->last.metric;
    return t->history->first.metric >= target ? now <= target : now >= target;
}

static void rule(const struct snapshot *s, const struct params *p, struct growth *g, uint32_t n,
                 usec_t *interval)
{
    double sum = 0, floor = 1 / (p->v[GROWTH_BETA].number * n);
    (void)interval;
    for (uint32_t i = 0; i < n; i++)
        if (!reached(&s->tasks[g[i].task]))
            sum += g[i].measured ? g[i].g : 0;
    for (uint32_t i = 0; i < n; i++) {
        bool content = reached(&s->tasks[g[i].task]);
        growth_enter(&g[i], s, content ? GROWTH_COMPLETING : GROWTH_NEW);
        g[i].limit = content ? floor : growth_limit(&g[i], n, sum, floor);
    }
}

static void share_target(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct growth_how how = growth_read_params(p);
    struct residents r = growth_run(s, p, &how, rule, plan);
    for (uint32_t i = 0; i < r.start[s->cluster->n]; i++)
        if (reached(&s->tasks[r.at[i].task]))
            plan_deny(plan, r.at[i].task, WHY_TARGET, TASK_NONE);
}

static bool describe_target(const struct snapshot *s, const struct params *p, uint32_t task,
                            struct remark *out)
{
    const struct task *t = &s->tasks[task];
    const struct history *h = t->history;
    bool content = growth_list(&t->memo[AXIS_SHARE]) == GROWTH_COMPLETING;
    char measure[96], limit[80], goal[64] = "it has no target";
    struct growth_how how = growth_read_params(p);
    if (!growth_is_shared(t))
        return false;
    growth_say_measure(t, &how, measure, sizeof measure);
    growth_say_limit(s, t, limit, sizeof limit);
    if (!isnan(t->job->target) && h && !isnan(h->last.metric))
        snprintf(goal, sizeof goal, "its metric is %.4g, its target %.4g", h->last.metric,
                 t->job->target);
    else if (!isnan(t->job->target))
        snprintf(goal, sizeof goal, "its target is %.4g", t->job->target);
    snprintf(out->list, sizeof out->list, "%s", content ? "reached" : "learning");
    if (content)
        snprintf(out->text, sizeof out->text, "It has reached its target: %s. %s", goal, limit);
    else
        snprintf(out->text, sizeof out->text,
                 "Under target its share follows its growth: %s, and %s. %s", goal, measure, limit);
    return true;
}

static const struct param params[] = {GROWTH_PARAM_TABLE, {0}};

const struct policy policy_target = {
    .axis = AXIS_SHARE,
    .name = "target",
    .summary = "a job that has reached its target falls to the floor; the others share by growth",
    .rule =
        "Every itval, and when a job joins or leaves the node, a job whose metric has reached its "
        "target falls to the floor of 1/(beta n) of its node's CPUs, and rises again if the "
        "metric gets worse. The other jobs share by growth efficiency, G/sum G, none below the "
        "floor. A job that reports no metric for three intervals gets 1/n. Limits are soft. Jobs "
        "request their minimum, so that more of them run on a node.",
    .source = "Zheng et al., TRADL (2019)",
    .params = params,
    .needs_metric = true,
    .soft = true,
    .decide = share_target,
    .describe = describe_target,
};
