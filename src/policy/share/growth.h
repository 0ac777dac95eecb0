/* Growth efficiency: how much a job's metric moves per second and per CPU, for
 * the sharers that follow it. */
#ifndef POLICY_SHARE_GROWTH_H
#define POLICY_SHARE_GROWTH_H

#include "model/plan.h"

/* FlowCon's lists. */
enum growth_list { GROWTH_NEW, GROWTH_WATCHING, GROWTH_COMPLETING };

/* A task on a node, as its sharer sees it. In the memo of the task: i[0] = list and
 * marks, i[1] = since when it is in the list, i[2] = when the metric was said that
 * was measured last, i[3] = limit, d[0] = that metric, d[1] = CPU time then, d[2] =
 * peak of G, d[3] = last G over that peak. */
enum { GROWTH_LIMIT_SCALE = 1000000000 };
enum { GROWTH_LISTS = 3, GROWTH_SEEN = 4, GROWTH_MEASURED = 8 };

static inline enum growth_list growth_list(const struct memo *m)
{
    return (enum growth_list)(m->i[0] & GROWTH_LISTS);
}

struct growth {
    uint32_t task;
    struct memo memo;
    bool measured; /* there is a G */
    bool fresh;    /* and it is of this look */
    double g;      /* in [0, 1]: G as a share of the job's own peak */
    double limit;  /* share of the node, 0..1: what the sharer decides */
};

/* The tasks that will share the CPUs of each node under the plan, by submission. A
 * task on several nodes has what it was granted, and so have the CPUs beside GPUs. */
struct residents {
    struct growth *at;
    uint32_t *start; /* by node: index of its first, start[n] = behind the last */
    units_t *cpus;   /* by node: what is to be shared */
};
struct residents growth_residents(const struct snapshot *s, struct plan *plan);

/* When a node is looked at: every so often, and whenever somebody joins or leaves
 * it. In the memo of the node: i[0] = next look, i[1] = interval, i[2] = who is
 * there. */

/* Whether these tasks are to be looked at now; if not, the plan is woken when they
 * are. *m becomes the node's memo, its interval set back to itval if somebody has
 * joined or left. */
bool growth_look(const struct snapshot *s, uint32_t node, const struct growth *g, uint32_t n,
                 usec_t itval, struct plan *plan, struct memo *m);
/* Keeps the memo; the next look is an interval from now. */
void growth_looked(const struct snapshot *s, uint32_t node, struct plan *plan, struct memo *m);

/* Takes a new measurement of the task if it has said a metric since the last one. */
void growth_measure(struct growth *g, const struct snapshot *s);
/* Puts it into the list, since now if it was in another or in none. */
void growth_enter(struct growth *g, const struct snapshot *s, enum growth_list list);

/* Turns the limits of one node, which has these CPUs to share, into weights: each
 * gets up to its limit, and what is left over goes to those that can use more.
 * Writes the shares and the memos into the plan. */
void growth_share(struct plan *plan, const struct snapshot *s, units_t shared, struct growth *g,
                  uint32_t n);

/* Says which list each task is in by now. */
void growth_enlist(const struct residents *r, const struct snapshot *s, struct plan *plan);

/* For people, of a task that runs: "its growth is 34 % of its best", or that it was not
 * measured, and why. */
void growth_say_measure(const struct task *t, char *out, size_t size);
/* "it may take 0.5 CPUs before others get theirs", or that nothing limits it. */
void growth_say_limit(const struct snapshot *s, const struct task *t, char *out, size_t size);
/* Whether the sharers look at the task: it runs on the CPUs of one node. */
bool growth_is_shared(const struct task *t);

#endif
