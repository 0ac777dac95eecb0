/* pack: jobs that wait run on the GPUs of others, where all of them gain by it.
 *
 * The allocator and the placer decide as always. Then each job that holds GPUs, in the order of the
 * allocator, is offered jobs that wait for as many GPUs. It is joined by the one with which the
 * speeds, as shares of those alone, have the largest sum; of equals by the first in the queue. In a
 * group of n jobs each must keep more than 1/n of its speed, times 1 + `gain`: all of them get
 * further than if they took turns. A pair that runs stays together as long as that holds.
 *
 * Source: Narayanan et al., "Heterogeneity-aware cluster scheduling policies" (OSDI'20), section
 * 4.2 (space sharing), and Xiao et al., "Gandiva" (OSDI'18), packing. Deviation: they pack by
 * trial or as part of a linear program; here it follows after any allocator. */
#include "policy/policies.h"
#include "policy/share/hard.h"

enum { MOST, GAIN };
enum { LOOK = 64 }; /* jobs that wait, and are looked at for one that runs */

struct pack {
    const struct snapshot *s;
    struct plan *plan;
    /* Tasks that can share, in the order of the queue. */
    uint32_t *waiting; /* TASK_NONE = taken */
    uint32_t n;
    uint32_t *holding;
    uint32_t nholding;
    bool *grouped; /* by task: the allocator has put it into a group */
    unsigned most;
    double gain;
};

struct group {
    const struct sharing *of[SHARING_MOST];
    unsigned n;
    uint32_t host;
};

static bool can_share(const struct pack *p, uint32_t task)
{
    const struct task *t = &p->s->tasks[task];
    return job_can_share(t->job) && !t->pinned && !p->grouped[task];
}

static void note_groups(struct pack *p)
{
    p->grouped = ARENA_ARRAY(p->plan->arena, p->s->tasks_cap, bool);
    for (uint32_t i = 0; i < p->plan->nrides; i++)
        p->grouped[p->plan->rides[i].task] = p->grouped[p->plan->rides[i].host] = true;
}

/* Which tasks hold units in this plan, and which do not. */
static void collect(struct pack *p)
{
    const uint32_t *order = p->plan->order;
    uint32_t i = order ? 0 : p->s->first;
    p->waiting = ARENA_ARRAY(p->plan->arena, p->s->active, uint32_t);
    p->holding = ARENA_ARRAY(p->plan->arena, p->s->active, uint32_t);
    for (uint32_t k = 0; k < p->s->active; k++) {
        uint32_t task = order ? order[k] : i;
        if (can_share(p, task) && plan_units(p->plan, task))
            p->holding[p->nholding++] = task;
        else if (can_share(p, task))
            p->waiting[p->n++] = task;
        i = order ? 0 : p->s->links[i].next;
    }
}

/* The sum of the speeds if the task joins; 0 if somebody does not gain. */
static double gain_with(const struct pack *p, const struct group *g, const struct sharing *other,
                        unsigned pool)
{
    const struct sharing *jobs[SHARING_MOST];
    double rates[SHARING_MOST], sum = 0;
    memcpy(jobs, g->of, g->n * sizeof *jobs);
    jobs[g->n] = other;
    if (!sharing_rates(jobs, g->n + 1, pool, rates))
        return 0;
    for (unsigned i = 0; i <= g->n; i++) {
        if (rates[i] * (g->n + 1) <= 1 + p->gain)
            return 0;
        sum += rates[i];
    }
    return sum;
}

static bool rides_with(const struct snapshot *s, uint32_t task, uint32_t host)
{
    uint32_t i = s->tasks[task].mate;
    while (i != task && i != host)
        i = s->tasks[i].mate;
    return s->tasks[task].phase == TASK_RIDING && i == host;
}

static bool fits(const struct task *t, const struct grant *g)
{
    return t->asked == g->n && task_may_use(t, g->pool) &&
           speed_at(job_speed(t->job, g->pool), g->n) > 0;
}

/* The place in the queue of the best to join the group; p->n if there is none. One that is in the
 * group already is better than any other. */
static uint32_t find_best(const struct pack *p, const struct group *g, const struct grant *grant)
{
    uint32_t best = p->n;
    double most = 0;
    for (uint32_t i = 0, looked = 0; i < p->n && looked < LOOK; i++) {
        if (p->waiting[i] == TASK_NONE || !fits(&p->s->tasks[p->waiting[i]], grant))
            continue;
        const struct task *t = &p->s->tasks[p->waiting[i]];
        double sum = gain_with(p, g, t->job->sharing, grant->pool);
        if (sum > 0 && rides_with(p->s, p->waiting[i], g->host))
            return i;
        looked++;
        if (sum > most) {
            most = sum;
            best = i;
        }
    }
    return best;
}

static void fill(struct pack *p, const struct grant *grant)
{
    const struct task *t = &p->s->tasks[grant->task];
    struct group g = {{t->job->sharing}, 1, grant->task};
    while (g.n < p->most) {
        uint32_t i = find_best(p, &g, grant);
        if (i == p->n)
            break;
        g.of[g.n++] = p->s->tasks[p->waiting[i]].job->sharing;
        plan_ride(p->plan, p->waiting[i], grant->task);
        plan_deny(p->plan, p->waiting[i], WHY_NONE, TASK_NONE);
        p->waiting[i] = TASK_NONE;
    }
}

static void share_pack(const struct snapshot *s, const struct params *params, struct plan *plan)
{
    struct pack p = {.s = s,
                     .plan = plan,
                     .most = 2 + (unsigned)params->v[MOST].number,
                     .gain = params->v[GAIN].number};
    share_limit_to_grants(plan);
    note_groups(&p);
    collect(&p);
    for (uint32_t i = 0; p.n && i < p.nholding; i++)
        fill(&p, plan_grant(plan, p.holding[i]));
}

static const struct param params[] = {
    [MOST] = {"most", PARAM_CHOICE, "2", 0, 0, "2|3|4", "jobs on the same GPUs"},
    [GAIN] = {"gain", PARAM_PERCENT, "0%", 0, 100, NULL,
              "how much faster than in turns each of them must be"},
    {0},
};

const struct policy policy_pack = {
    .axis = AXIS_SHARE,
    .name = "pack",
    .summary = "waiting jobs share GPUs with running ones when all benefit",
    .rule =
        "After the allocator and the placer have decided, jobs that wait may join jobs that hold "
        "as "
        "many GPUs as they request, in the order of the allocator. Of those that wait, the one is "
        "chosen with which the sum of the speeds is largest, as shares of the speeds alone. In a "
        "group of n each job must keep more than 1/n of its speed.\n\n"
        "Jobs share GPUs only if their speeds together are known. CPUs are limited as by hard.",
    .source = "Gavel (Narayanan et al., OSDI'20), space sharing; Gandiva (Xiao et al., OSDI'18)",
    .params = params,
    .decide = share_pack,
};
