/* Owns what policies say about jobs. */
#include "server/jobs/standing.h"

#include <jansson.h>

#include "server/events.h"
#include "server/nodes.h"

static const struct combo *combo(const struct yard *y)
{
    return &y->engine.config.combo;
}

static bool describe(struct yard *y, enum axis axis, uint32_t task, struct remark *out)
{
    const struct policy *p = combo(y)->policy[axis];
    const struct snapshot *s = engine_snapshot(&y->engine, clock_now(&y->clock));
    *out = (struct remark){0};
    return p->describe && p->describe(s, &combo(y)->params[axis], task, out);
}

/* A job whose threads have not followed its size runs slower than it could. */
static void add_late(const struct attempt *a, json_t *list)
{
    if (a->late && a->threads)
        json_array_append_new(
            list, json_sprintf("Its threads have not followed its size: it runs %u on %g CPUs.",
                               (unsigned)a->threads, (double)a->cpus / UNIT));
    else if (a->late)
        json_array_append_new(list, json_string("It keeps its threads; its CPUs follow its size."));
}

json_t *standing_list(struct yard *y, const struct live_job *j)
{
    const struct task *t = yard_task(y, j);
    json_t *list = json_array();
    struct remark r;
    bool counts = t && (task_running(t) || t->phase == TASK_QUEUED || t->phase == TASK_PAUSED);
    for (enum axis axis = 0; counts && axis < AXES; axis++)
        if (describe(y, axis, j->task, &r))
            json_array_append_new(list, json_string(r.text));
    if (j->attempt && j->attempt->notice)
        json_array_append_new(list, json_string(j->attempt->notice));
    if (j->attempt && j->attempt->waits)
        json_array_append_new(list, json_sprintf("It is %s.", j->attempt->waits));
    if (j->attempt)
        add_late(j->attempt, list);
    if (j->attempt && j->terms.memory_mb && !nodes_limit_memory(y, j->attempt->node))
        json_array_append_new(list, json_string("Its memory limit is not enforced: its node has no "
                                                "control groups for it."));
    return list;
}

void standing_tell_list(struct yard *y, const struct live_job *j, enum axis axis)
{
    struct remark r;
    if (!describe(y, axis, j->task, &r))
        return;
    events_add(y, "job.listed", j->row.id,
               json_pack("{s:s, s:s, s:s}", "policy", combo(y)->policy[axis]->name, "list", r.list,
                         "why", r.text));
    turn_hurry(y);
}
