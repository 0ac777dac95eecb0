/* What a policy sees: the cluster, the tasks and the time. It is read-only; the same
 * snapshot always gives the same plan. */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cluster.h"
#include "model/service.h"
#include "model/task.h"

/* Our event rules, or those of other simulators to compare with. docs/peers.md says how they
 * differ. */
enum rules {
    RULES_OWN,
    RULES_TIRESIAS,
    RULES_ELASTICFLOW,
    RULES_POLLUX,
    RULES_GAVEL,
    RULES_MURI,
    RULES_SIA,
};

/* A task's neighbours in the order; TASK_NONE at either end. */
struct task_link {
    uint32_t prev, next;
};

struct snapshot {
    usec_t now;
    uint64_t seed;
    enum rules rules;
    const struct cluster *cluster;
    unsigned pools;
    units_t size[POOLS_MAX]; /* of each pool, on nodes that are up */
    bool shut;               /* some node is draining or closed: size[] does not count it */

    const struct task *tasks; /* by task index; only those in the order are valid */
    uint32_t tasks_cap;
    /* Active tasks, which may hold units (queued, running, paused, riding), in the order that the
     * allocator last gave them; new ones are at the end. */
    uint32_t first, last, active;
    const struct task_link *links; /* by task index */
    bool by_submit;                /* the order is by class, submit time and id */
    const uint32_t *running;       /* running tasks, in no particular order */
    uint32_t nrunning;
    uint32_t ncpu;     /* running tasks that are served from the CPU pool */
    uint32_t npaused;  /* active tasks that are paused */
    uint32_t nriding;  /* active tasks that run on the units of others */
    uint32_t npinned;  /* running tasks that must not be preempted */
    uint32_t nkeeping; /* tasks that keep their memory when they have no units */

    const struct service *finished;     /* service of finished jobs */
    const struct memo *node_memo[AXES]; /* by node */
    const struct memo *memo;            /* by axis */
    usec_t last_arrival, last_departure;
};

static inline const struct task *snapshot_task(const struct snapshot *s, uint32_t i)
{
    return &s->tasks[i];
}

#define SNAPSHOT_EACH(s, i) for (uint32_t i = (s)->first; i != TASK_NONE; i = (s)->links[i].next)

#endif
