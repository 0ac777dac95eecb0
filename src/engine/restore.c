/* Owns restoring tasks of an earlier engine: the same phase, counters and nodes. A server
 * that starts again does this, and so does the replay of its journal. The history of a
 * task's metric is restored with EVENT_SAMPLE. */
#include "engine/restore.h"

#include "engine/state.h"

/* Policies rely on it that no node holds more than it has. */
static int check_room(const struct engine *e, const struct job *j, const struct task *was,
                      const struct slot *slot, struct err *err)
{
    const struct node *n = &e->cluster.nodes[slot->node];
    bool frozen = was->phase == TASK_PAUSED; /* it holds only memory */
    units_t held = frozen ? 0 : node_held(n, was->pool);
    units_t cpus_with_gpus =
        was->pool == POOL_CPU || frozen ? 0 : job_cpus(j, was->pool, slot->units);
    struct devices left = n->devices;
    devices_add(&left, &n->devices_held, -1);
    if (slot->units > node_size(n, was->pool) - held ||
        (cpus_with_gpus && cpus_with_gpus > n->cpus - n->cpu_held) ||
        (n->memory_mb && j->memory_mb > n->memory_mb - n->memory_held) ||
        !devices_fit(&j->devices, &left))
        return err_set(err, ERR_CONFLICT, "restore: %s would hold more than it has", n->name);
    if (was->pool != POOL_CPU && slot->units % UNIT)
        return err_set(err, ERR_INVALID, "restore: a number of GPUs must be a whole number");
    return 0;
}

static bool is_twice(const struct placement *at, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (at->at[k].node == at->at[i].node)
            return true;
    return false;
}

static int check_places(const struct engine *e, const struct job *j, const struct task *was,
                        struct err *err)
{
    bool holds =
        was->phase == TASK_RUNNING || was->phase == TASK_PAUSED || was->phase == TASK_STOPPING;
    units_t sum = 0;
    if (was->phase == TASK_RIDING)
        return err_set(err, ERR_INVALID, "restore: the task has no units of its own");
    if (holds && (was->pool >= cluster_pools(&e->cluster) || !job_takes_pool(j, was->pool)))
        return err_set(err, ERR_INVALID, "restore: the job cannot use pool %u", was->pool);
    for (uint32_t i = 0; i < was->at.n; i++) {
        const struct slot *slot = &was->at.at[i];
        if (slot->node >= e->cluster.n || slot->units <= 0 || is_twice(&was->at, i))
            return err_set(err, ERR_INVALID, "restore: node %u does not exist, or is there twice",
                           slot->node);
        if (holds && check_room(e, j, was, slot, err) < 0)
            return -1;
        sum += slot->units;
    }
    if (holds != (was->at.n > 0) || (holds && was->phase != TASK_PAUSED && sum != was->n))
        return err_set(err, ERR_INVALID, "restore: units and places do not agree");
    return 0;
}

static int check_counters(const struct task *was, struct err *err)
{
    const double counters[] = {was->work, was->done, was->saved, was->attained, was->cpu_time};
    for (size_t i = 0; i < COUNT_OF(counters); i++)
        if (!work_is_valid(counters[i]))
            return err_set(err, ERR_INVALID, "restore: a counter is out of range");
    return 0;
}

/* Copies what does not follow from the phase. */
static void copy_counters(struct task *t, const struct task *was)
{
    t->work = was->work;
    t->done = was->done;
    t->saved = was->saved;
    t->attained = was->attained;
    t->cpu_time = was->cpu_time;
    t->started_at = was->started_at;
    t->queued_at = was->queued_at;
    t->resumed_at = was->resumed_at;
    t->changed_at = was->changed_at;
    t->ready_at = was->ready_at;
    t->run_time = was->run_time;
    t->wait_time = was->wait_time;
    t->starts = was->starts;
    t->preemptions = was->preemptions;
    t->moves = was->moves;
    t->resizes = was->resizes;
    t->failures = was->failures;
    t->cpu_limit = was->cpu_limit;
    t->cpu_weight = was->cpu_weight;
    t->hold = was->hold;
    memcpy(t->memo, was->memo, sizeof t->memo);
    memcpy(t->list, was->list, sizeof t->list);
}

int restore_task(struct engine *e, const struct job *job, const struct task *was, usec_t now,
                 struct err *err)
{
    if (check_places(e, job, was, err) < 0 || check_counters(was, err) < 0)
        return -1;
    uint32_t task = e->submitted = state_add(e, job, now);
    struct task *t = &e->tasks[task];
    units_t n = placement_units(&was->at);
    copy_counters(t, was);
    if (n)
        state_occupy(e, task, was->pool, &was->at, n);
    switch (was->phase) {
    case TASK_QUEUED:
        break;
    case TASK_RUNNING:
        state_run(e, task);
        break;
    case TASK_PAUSED:
        state_vacate(e, task, false);
        state_set_phase(e, task, TASK_PAUSED);
        break;
    case TASK_RIDING: /* refused by check_places() */
    case TASK_STOPPING:
    case TASK_HELD:
        state_unlink(e, task);
        state_set_phase(e, task, was->phase);
        break;
    }
    return 0;
}
