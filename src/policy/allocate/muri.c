/* muri: jobs whose stages keep different resources busy take turns on the same GPUs.
 *
 * Jobs are ordered by remaining service, or by attained service if sizes are not known. As many
 * leaders are taken in that order as fit; each brings the next jobs of the same size, `most` in
 * all. Then these candidates are put into groups of the same size by pairing, in rounds, until all
 * of them fit or groups are full. The jobs of a group run on the same GPUs, one step each per
 * cycle. A pair weighs the share of time that their resources are busy. A group whose cycle takes
 * longer than the steps of its jobs one after the other is dissolved. Groups are granted GPUs in
 * the order of their first jobs.
 *
 * Source: Zhao et al., "Multi-resource interleaving for deep learning training" (SIGCOMM'22),
 * Muri-S and Muri-L, by their simulator. Deviations: pairs are found by exchanges (pairing.c)
 * instead of an exact matching; a job that has not run yet is not taken for 1.5 % shorter than it
 * is; and a job that has just paid for a restart goes on for a while, alone. */
#include <math.h>

#include "policy/allocate/pairing.h"
#include "policy/policies.h"
#include "policy/queue.h"

enum { BY, MOST };
enum { BY_REMAINING, BY_ATTAINED };
enum { RESOURCES = 4 };

struct group {
    uint32_t task[SHARING_MOST]; /* in the order of the queue */
    unsigned n;
    uint32_t rank; /* of the first in the queue */
};

/* Candidates of one size in one pool, in groups. */
struct size_class {
    unsigned pool;
    units_t size;
    struct group *at;
    uint32_t n;      /* groups */
    uint32_t chosen; /* of the jobs, while candidates are chosen */
};

struct muri {
    const struct snapshot *s;
    struct arena *arena;
    struct size_class *classes;
    uint32_t nclasses;
    units_t needs[POOLS_MAX]; /* of all groups */
    unsigned most;
};

/* NULL if the task has its units alone in any case. */
static const struct sharing *sharing_of(const struct muri *m, uint32_t task)
{
    const struct task *t = &m->s->tasks[task];
    const struct sharing *s = job_can_share(t->job) ? t->job->sharing : NULL;
    bool stays = t->pinned || task_is_paying(t, m->s->now);
    return s && s->step > 0 && !stays ? s : NULL;
}

static struct size_class *find_class(struct muri *m, unsigned pool, units_t size)
{
    for (uint32_t i = 0; i < m->nclasses; i++)
        if (m->classes[i].pool == pool && m->classes[i].size == size)
            return &m->classes[i];
    struct size_class *c = &m->classes[m->nclasses++];
    *c = (struct size_class){.pool = pool, .size = size};
    return c;
}

/* Sorts the queue into classes, one group for each job. */
static uint32_t *classify(struct muri *m, const struct keyed *k)
{
    uint32_t active = m->s->active, *of = ARENA_ARRAY(m->arena, active, uint32_t);
    m->classes = ARENA_ARRAY(m->arena, active, struct size_class);
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < m->nclasses; i++) {
            m->classes[i].at = ARENA_ARRAY(m->arena, m->classes[i].n, struct group);
            m->classes[i].n = 0;
        }
        for (uint32_t i = 0; i < active; i++) {
            const struct task *t = &m->s->tasks[k[i].task];
            struct size_class *c = find_class(m, budget_pool(m->s, t), task_asked(t));
            if (c->at)
                c->at[c->n] = (struct group){{k[i].task}, 1, i};
            of[i] = (uint32_t)(c - m->classes);
            c->n++;
        }
    }
    return of;
}

/* Keeps of each class those that may run: a leader that fits brings the next ones with it. */
static void choose(struct muri *m, const struct keyed *k)
{
    struct budget b;
    unsigned pool;
    const uint32_t *of = classify(m, k);
    uint32_t *seen = ARENA_ARRAY(m->arena, m->nclasses, uint32_t);
    budget_init(&b, m->s, m->arena);
    for (uint32_t i = 0; i < m->s->active && budget_most(&b); i++) {
        struct size_class *c = &m->classes[of[i]];
        if (seen[of[i]]++ >= c->chosen && budget_take(&b, k[i].task, c->size, &pool))
            c->chosen = c->chosen + m->most < c->n ? c->chosen + m->most : c->n;
    }
    for (uint32_t i = 0; i < m->nclasses; i++) {
        struct size_class *c = &m->classes[i];
        c->n = c->chosen;
        m->needs[c->pool] += c->size * c->n;
    }
}

/* A group by the kinds of its jobs; jobs that cannot share are of a type without kinds. */
struct type {
    const struct sharing *of[SHARING_MOST];
    unsigned n;
};

static struct type type_of(const struct muri *m, const struct group *g)
{
    struct type t = {.n = g->n};
    for (unsigned i = 0; i < g->n; i++) {
        const struct sharing *s = sharing_of(m, g->task[i]);
        unsigned at = i;
        if (!s)
            return (struct type){.n = 0};
        for (; at > 0 && t.of[at - 1]->kind > s->kind; at--)
            t.of[at] = t.of[at - 1];
        t.of[at] = s;
    }
    return t;
}

static bool is_same(const struct type *a, const struct type *b)
{
    return a->n == b->n && !memcmp(a->of, b->of, a->n * sizeof(struct sharing *));
}

/* The share of time that the resources of both are busy; 0 if they do not fit together. */
static float pair_weight(const struct muri *m, const struct type *a, const struct type *b)
{
    const struct sharing *jobs[2 * SHARING_MOST];
    double busy = 0;
    if (!a->n || !b->n || a->n + b->n > m->most)
        return 0;
    memcpy(jobs, a->of, a->n * sizeof *jobs);
    memcpy(jobs + a->n, b->of, b->n * sizeof *jobs);
    for (unsigned i = 0; i < a->n + b->n; i++)
        for (int stage = 0; stage < SHARING_STAGES; stage++)
            busy += jobs[i]->stage[stage];
    return (float)(busy / (sharing_cycle(jobs, a->n + b->n) * RESOURCES));
}

/* Finds the type of each group and the weights of all pairs of types. */
static const float *weigh(const struct muri *m, const struct size_class *c, uint32_t *type,
                          uint32_t *types)
{
    struct type *list = ARENA_ARRAY(m->arena, c->n, struct type);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        list[n] = type_of(m, &c->at[i]);
        for (type[i] = 0; !is_same(&list[type[i]], &list[n]);)
            type[i]++;
        n += type[i] == n;
    }
    float *w = ARENA_ARRAY(m->arena, (size_t)n * n, float);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++)
            w[(size_t)i * n + k] = w[(size_t)k * n + i] = pair_weight(m, &list[i], &list[k]);
    *types = n;
    return w;
}

/* Joins the pairs of one class, while there is not enough for all. */
static void join_pairs(struct muri *m, struct size_class *c)
{
    uint32_t types, *type = ARENA_ARRAY(m->arena, c->n, uint32_t), kept = 0;
    const float *w = weigh(m, c, type, &types);
    const uint32_t *mate = pairing_find(type, c->n, w, types, m->arena);
    struct group *groups = ARENA_ARRAY(m->arena, c->n, struct group);
    for (uint32_t i = 0; i < c->n; i++) {
        if (mate[i] != PAIRING_ALONE && mate[i] > i)
            continue; /* its turn comes with its partner */
        if (mate[i] != PAIRING_ALONE) {
            struct group *g = &groups[kept++];
            *g = c->at[mate[i]];
            if (m->needs[c->pool] > m->s->size[c->pool]) {
                memcpy(g->task + g->n, c->at[i].task, c->at[i].n * sizeof *g->task);
                g->n += c->at[i].n;
                g->rank = g->rank < c->at[i].rank ? g->rank : c->at[i].rank;
                m->needs[c->pool] -= c->size;
                continue;
            }
        }
        groups[kept++] = c->at[i];
    }
    c->at = groups;
    c->n = kept;
}

/* Whether the jobs are faster together than one after the other. */
static bool helps(const struct muri *m, const struct group *g)
{
    const struct sharing *jobs[SHARING_MOST];
    double alone = 0;
    for (unsigned i = 0; i < g->n; i++) {
        jobs[i] = sharing_of(m, g->task[i]);
        alone += g->n > 1 ? jobs[i]->step : 0;
    }
    return g->n == 1 || sharing_cycle(jobs, g->n) <= alone;
}

/* All groups as entries of a queue, by their first jobs; those that do not help are dissolved. */
static uint32_t line_up(const struct muri *m, const uint32_t *rank, struct group *groups)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nclasses; i++)
        for (uint32_t k = 0; k < m->classes[i].n; k++) {
            const struct group *g = &m->classes[i].at[k];
            bool whole = helps(m, g);
            for (unsigned j = 0; !whole && j < g->n; j++)
                groups[n++] = (struct group){{g->task[j]}, 1, rank[g->task[j]]};
            if (whole)
                groups[n++] = *g;
        }
    return n;
}

/* The one that has units already, so that fewer jobs have to move. */
static unsigned choose_host(const struct snapshot *s, const struct group *g)
{
    for (unsigned i = 0; i < g->n; i++)
        if (task_running(&s->tasks[g->task[i]]))
            return i;
    return 0;
}

static void grant_groups(const struct muri *m, const struct group *groups, uint32_t n,
                         struct plan *plan)
{
    struct keyed *order = ARENA_ARRAY(m->arena, n, struct keyed);
    struct budget b;
    budget_init(&b, m->s, m->arena);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct keyed){.rank = groups[i].rank, .task = i};
    order_sort(order, n, m->arena);
    for (uint32_t i = 0; i < n; i++) {
        const struct group *g = &groups[order[i].task];
        unsigned host = choose_host(m->s, g);
        bool fits = budget_grant(&b, plan, g->task[host], task_asked(&m->s->tasks[g->task[host]]));
        for (unsigned k = 0; k < g->n; k++)
            if (fits && k != host)
                plan_ride(plan, g->task[k], g->task[host]);
            else if (!fits)
                plan_deny(plan, g->task[k], WHY_ORDER, TASK_NONE);
    }
}

static bool anyone_waits(const struct muri *m)
{
    for (unsigned p = 0; p < m->s->pools; p++)
        if (m->needs[p] > m->s->size[p])
            return true;
    return false;
}

static void allocate_muri(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct muri m = {.s = s, .arena = plan->arena, .most = 1 + (unsigned)p->v[MOST].number};
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        double time = p->v[BY].number == BY_ATTAINED ? (double)task_run_time(t, s->now)
                                                     : queue_time_left(s, k[i].task);
        k[i].key = task_is_paying(t, s->now) ? -1 : time * (double)task_asked(t);
    }
    if (order_sort(k, s->active, plan->arena))
        order_publish(k, s->active, plan);
    uint32_t *rank = ARENA_ARRAY(plan->arena, s->tasks_cap, uint32_t);
    for (uint32_t i = 0; i < s->active; i++)
        rank[k[i].task] = i;
    choose(&m, k);
    for (unsigned round = 0; round < SHARING_MOST && anyone_waits(&m); round++)
        for (uint32_t i = 0; i < m.nclasses; i++)
            join_pairs(&m, &m.classes[i]);
    struct group *groups = ARENA_ARRAY(plan->arena, s->active, struct group);
    grant_groups(&m, groups, line_up(&m, rank, groups), plan);
}

static const struct param params[] = {
    [BY] = {"by", PARAM_CHOICE, "remaining", 0, 0, "remaining|attained",
            "order jobs by the service that remains, or that they have had"},
    [MOST] = {"most", PARAM_CHOICE, "4", 0, 0, "1|2|3|4", "jobs on the same GPUs"},
    {0},
};

const struct policy policy_muri = {
    .axis = AXIS_ALLOCATE,
    .name = "muri",
    .summary = "jobs with different bottlenecks take turns on the same GPUs, preemptive",
    .rule =
        "Jobs are ordered by remaining service (time x units). As many as fit are leaders, and "
        "each "
        "brings up to three further jobs of the same size with it. If not all of them fit, jobs "
        "of the same size are paired, and the pairs again, so that their storage, CPU and GPU "
        "stages overlap best, and run on the same GPUs: one step of each job per cycle. A group "
        "that "
        "is slower than its jobs one after the other is dissolved.\n\n"
        "Jobs share GPUs only if the times of their stages are known.",
    .source = "Zhao et al., Multi-resource interleaving for deep learning training (SIGCOMM'22)",
    .params = params,
    .decide = allocate_muri,
};
