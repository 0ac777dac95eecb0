/* Owns the asking of policies what they think of jobs. A policy that has no lists, and
 * one that gives each job CPUs of its own, cost nothing after a decision. */
#include "server/jobs/standing.h"

#include <jansson.h>
#include <string.h>

#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/parts.h"

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

/* A job whose threads have not followed its size goes on, but not as fast as it could. */
static void add_late(const struct attempt *a, json_t *list)
{
    if (a->late && a->threads)
        json_array_append_new(
            list, json_sprintf("Its threads have not followed its size: it runs %u on %g CPUs.",
                               (unsigned)a->threads, (double)a->cpus / UNIT));
    else if (a->late)
        json_array_append_new(
            list, json_string("Its threads have not followed its size: it has begun no parallel "
                              "region since. If it uses no OpenMP, `resize: restart` can make it "
                              "follow."));
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
    if (j->attempt)
        add_late(j->attempt, list);
    return list;
}

/* Tells of the list that the job is in, if it is another than before. */
static void follow_list(struct yard *y, struct live_job *j, enum axis axis)
{
    const struct policy *p = combo(y)->policy[axis];
    const struct snapshot *s = engine_snapshot(&y->engine, clock_now(&y->clock));
    unsigned list = p->list(s, &combo(y)->params[axis], j->task);
    struct remark r;
    if (list == j->list[axis])
        return;
    j->list[axis] = (uint8_t)list;
    if (!list || !describe(y, axis, j->task, &r))
        return;
    events_add(y, "job.listed", j->row.id,
               json_pack("{s:s, s:s, s:s}", "policy", p->name, "list", r.list, "why", r.text));
    turn_hurry(y);
}

void standing_follow(struct yard *y)
{
    const struct engine *e = &y->engine;
    bool soft = combo(y)->policy[AXIS_SHARE]->soft, lists = false;
    for (enum axis axis = 0; axis < AXES; axis++)
        lists |= combo(y)->policy[axis]->list != NULL;
    for (size_t i = 0; (soft || lists) && i < e->running.n; i++) {
        uint32_t task = e->running.at[i];
        struct live_job *j = yard_job_of_task(y, task);
        if (!j || !j->attempt)
            continue;
        if (soft)
            attempt_resize(y, j, &e->tasks[task], combo(y)->name);
        for (enum axis axis = 0; axis < AXES; axis++)
            if (combo(y)->policy[axis]->list)
                follow_list(y, j, axis);
    }
    if (soft)
        parts_follow(y);
}

void standing_forget(struct yard *y)
{
    for (struct live_job *j = y->jobs.first; j; j = j->next) {
        memset(j->list, 0, sizeof j->list);
    }
}
