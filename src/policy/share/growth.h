/* Growth efficiency: how much a job's metric moves per second and per share of a resource, for
 * the sharers that follow it. */
#ifndef POLICY_SHARE_GROWTH_H
#define POLICY_SHARE_GROWTH_H

#include "model/plan.h"
#include "policy/params.h"

/* FlowCon's lists, and the jobs that are in none of them because nothing can be measured. */
enum growth_list { GROWTH_NEW, GROWTH_WATCHING, GROWTH_COMPLETING, GROWTH_UNMEASURED };

/* A task on a node, as its sharer sees it. In the memo of the task: i[0] = list and flags, i[1]
 * = since when it is in the list, i[2] = when the last measured metric was reported, i[3] =
 * limit, d[0] = that metric, d[1] = the resource that was used by then, d[2] = peak of G, d[3] =
 * last G, in the scale that was asked for. */
enum { GROWTH_LIMIT_SCALE = 1000000000 };
enum { GROWTH_LISTS = 3, GROWTH_SEEN = 4, GROWTH_MEASURED = 8 };

static inline enum growth_list growth_list(const struct memo *m)
{
    return (enum growth_list)(m->i[0] & GROWTH_LISTS);
}

/* What G is divided by: the first value of the job's metric, or the job's own peak of G. */
enum growth_scale { GROWTH_BY_FIRST, GROWTH_BY_PEAK };

struct growth_how {
    usec_t itval; /* between two looks at a node */
    enum growth_scale scale;
    enum growth_resource resource; /* whose use G is a return on */
    double bandwidth; /* bytes per second that count as all of a node's disk or network */
};

struct growth {
    uint32_t task;
    struct memo memo;
    bool measured; /* there is a G */
    bool fresh;    /* measured just now */
    bool silent;   /* not measured in the three intervals for which it has run, or more */
    double g;      /* the last G */
    double limit;  /* share of the node, 0..1, set by the sharer */
};

/* The tasks that will share the CPUs of each node under a plan, by submission. */
struct residents {
    struct growth *at;
    uint32_t *start; /* by node: index of its first; start[nodes] = number of all */
    units_t *cpus;   /* by node: CPUs to be shared */
};

/* Puts the n tasks of a node, which have been measured, into lists and sets their limits.
 * *interval is the time to the next look. */
typedef void (*growth_rule)(const struct snapshot *s, const struct params *p, struct growth *g,
                            uint32_t n, usec_t *interval);

/* Applies the rule to each node every itval, and whenever a task joins or leaves it.
 * Returns all tasks that share. */
struct residents growth_run(const struct snapshot *s, const struct params *p,
                            const struct growth_how *how, growth_rule rule, struct plan *plan);

/* Puts the task into the list, since now if it was in another or in none. */
void growth_enter(struct growth *g, const struct snapshot *s, enum growth_list list);

/* The share of a node that one of its n tasks gets by its part of the sum of all growth: 1 if it
 * is alone or not measured yet, an equal share if it is silent, and at least the floor. */
double growth_limit(const struct growth *g, uint32_t n, double sum, double floor);

/* Whether the task runs and shares CPUs. */
static inline bool growth_is_shared(const struct task *t)
{
    return task_running(t) && task_shares_cpus(t);
}

#endif
