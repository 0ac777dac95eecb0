/* auto: runs the allocator that is expected to do best with the jobs that are there.
 *
 * A policy sees one snapshot and cannot look ahead. So the choice itself is made by
 * advisor/chooser.c, which rolls copies of the engine forward under each candidate; the server
 * and the simulator then replace the combination (EVENT_POLICY). What is in force is the
 * parameter `now`, which makes it part of the policy's name: the journal and the store need
 * nothing else.
 *
 * Source: ours. */
#include "policy/allocate/auto.h"

#include <stdio.h>
#include <string.h>

#include "policy/policies.h"

#define CANDIDATES "hesrpt|deadline|afs-l|srsf|srtf|srjf|elastic-srjf|elastic-las|edf|las|makespan"

const struct policy *const auto_candidates[] = {
    &policy_hesrpt, &policy_deadline, &policy_afs_l,        &policy_srsf,
    &policy_srtf,   &policy_srjf,     &policy_elastic_srjf, &policy_elastic_las,
    &policy_edf,    &policy_las,      &policy_makespan,     NULL,
};

bool combo_is_auto(const struct combo *c)
{
    return c->automatic;
}

unsigned auto_now(const struct combo *c)
{
    return (unsigned)c->automation.v[AUTO_NOW].number;
}

const char *auto_goal_name(const struct combo *c)
{
    static const char *const names[] = {
        "missed deadlines, then mean completion time", "mean completion time",
        "99th percentile of completion times", "makespan", "fairness"};
    return names[(unsigned)c->automation.v[AUTO_GOAL].number];
}

/* Writes the name of the combination into out: `now` is replaced, all else is as the user
 * spelt it. */
static void rename_choice(const struct combo *c, const char *now, struct combo *out)
{
    static const char key[] = ":now=";
    const char *name = strstr(c->name, "auto"), *old = strstr(c->name, key);
    const char *end = name + strlen("auto"), *rest = end;
    if (old) {
        end = old;
        rest = old + strlen(key) + strcspn(old + strlen(key), ":,");
    }
    snprintf(out->name, sizeof out->name, "%.*s%s%s%s", (int)(end - c->name), c->name, key, now,
             rest);
}

void auto_choose(const struct combo *c, unsigned to, struct combo *out)
{
    struct combo chosen = *c;
    chosen.automation.v[AUTO_NOW].number = to;
    chosen.policy[AXIS_ALLOCATE] = auto_candidates[to];
    params_default(auto_candidates[to]->params, &chosen.params[AXIS_ALLOCATE]);
    rename_choice(c, auto_candidates[to]->name, &chosen);
    *out = chosen;
}

/* Without anybody who chooses, the candidate in force decides. */
static void allocate_auto(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    const struct policy *now = auto_candidates[(unsigned)p->v[AUTO_NOW].number];
    struct params params;
    params_default(now->params, &params);
    now->decide(s, &params, plan);
}

static const struct param params[] = {
    [AUTO_NOW] = {"now", PARAM_CHOICE, "hesrpt", 0, 0, CANDIDATES,
                  "the allocator in force; auto replaces it"},
    [AUTO_GOAL] = {"goal", PARAM_CHOICE, "deadlines", 0, 0, "deadlines|mean|p99|makespan|fairness",
                   "what to make small: missed deadlines, then the mean completion time; or one "
                   "figure alone"},
    [AUTO_GAIN] = {"gain", PARAM_PERCENT, "3%", 0, 100, NULL,
                   "another allocator must be better by this much"},
    [AUTO_EVERY] = {"every", PARAM_DURATION, "20s", 1, 86400, NULL,
                    "the least time between two comparisons"},
    [AUTO_BUDGET] = {"budget", PARAM_DURATION, "50ms", 0.001, 10, NULL,
                     "computing time of a comparison"},
    {0},
};

const struct policy policy_auto = {
    .axis = AXIS_ALLOCATE,
    .name = "auto",
    .summary = "the allocator that a forecast of the present jobs finds best",
    .rule =
        "When jobs have come or ended, but not more often than every, the present jobs are "
        "followed into the future under each candidate, with the expected length of each job and "
        "the costs of all changes. Another candidate takes over if it misses fewer deadlines, or "
        "as many and is better by gain in the goal.\n\n"
        "A comparison takes at most budget. If that is not enough to follow all jobs to their "
        "end, all candidates are compared over the same, shorter time.\n\n"
        "The parameter now shows the allocator in force; events and explain say why it was chosen.",
    .source = "Trainyard",
    .params = params,
    .weighs_costs = true,
    .weighs_sizes = true,
    .sees_deadlines = true,
    .decide = allocate_auto,
};
