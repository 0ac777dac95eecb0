/* Owns what each event changes in the state. Events do not decide anything: they mark the
 * state dirty, and the next decision looks at it (engine.c). */
#include "engine/event.h"

#include <math.h>

#include "engine/apply.h"
#include "engine/restore.h"
#include "engine/ride.h"
#include "engine/state.h"

static bool has_cost(const struct job *j)
{
    return j->cost.restart > 0 || j->cost.resize > 0 || j->cost.move > 0;
}

static int on_submit(struct engine *e, const struct job *job, usec_t now, struct err *err)
{
    if (cluster_can_hold(&e->cluster, job, err) < 0)
        return -1;
    e->submitted = state_add(e, job, now);
    e->costly |= has_cost(job);
    e->snapshot.last_arrival = now;
    e->dirty = true;
    return 0;
}

/* Removes a task that is over. */
static void on_end(struct engine *e, uint32_t task, usec_t now)
{
    struct task *t = &e->tasks[task];
    task_advance(t, now);
    ride_bequeath(e, task, now);
    if (t->phase != TASK_STOPPING && t->phase != TASK_HELD)
        state_unlink(e, task);
    if (t->phase == TASK_RUNNING)
        state_rest(e, task);
    if (t->at.n)
        state_vacate(e, task, true);
    service_add(&e->finished, t->attained);
    state_remove(e, task);
    e->snapshot.last_departure = now;
    e->dirty = true;
}

/* A stopping task has left its nodes and can be started again. */
static void on_stopped(struct engine *e, uint32_t task, usec_t now)
{
    struct task *t = &e->tasks[task];
    task_advance(t, now);
    t->saved = t->done;
    state_vacate(e, task, true);
    if (t->hold) {
        t->wait_time += now - t->queued_at;
        state_set_phase(e, task, TASK_HELD);
    } else {
        state_set_phase(e, task, TASK_QUEUED);
        state_link(e, task);
    }
    t->hold = false;
    e->dirty = true;
}

/* Puts the task back to its last checkpoint and into the queue. */
static void on_failed(struct engine *e, uint32_t task, usec_t now)
{
    struct task *t = &e->tasks[task];
    task_advance(t, now);
    ride_fail(e, task, now);
    t->done = t->saved;
    t->failures++;
    if (t->phase == TASK_STOPPING) {
        on_stopped(e, task, now);
        return;
    }
    if (t->phase == TASK_RUNNING) {
        t->run_time += now - t->resumed_at;
        t->queued_at = now;
        state_rest(e, task);
    }
    state_vacate(e, task, true);
    state_set_phase(e, task, TASK_QUEUED);
    e->dirty = true;
}

/* All tasks on a node that goes down fail. On a node that is drained, running tasks may
 * end; paused ones go back to the queue, if they can restart. */
static void on_node(struct engine *e, uint32_t node, enum node_state state, usec_t now)
{
    e->cluster.nodes[node].state = state;
    for (uint32_t i = 0; state != NODE_UP && i < e->tasks_n; i++) {
        const struct task *t = &e->tasks[i];
        if (!t->job || !placement_on(&t->at, node))
            continue;
        if (state == NODE_DOWN)
            on_failed(e, i, now);
        else if (state == NODE_DRAINING && t->phase == TASK_PAUSED && !task_keeps_memory(t))
            apply_evict(e, i);
    }
    e->snapshot.pools = 0;
    e->dirty = true;
}

/* No node holds more than it has: the caller keeps what is held. */
static int check_capacity(const struct engine *e, uint32_t node, const struct capacity *has,
                          struct err *err)
{
    const struct node *n = node < e->cluster.n ? &e->cluster.nodes[node] : NULL;
    unsigned pool = has->gpus ? cluster_gpu_pool(&e->cluster, has->gpu_type) : POOLS_MAX;
    if (node > e->cluster.n)
        return err_set(err, ERR_NOT_FOUND, "no node %u", node);
    if (has->gpus && pool == POOLS_MAX && cluster_pools(&e->cluster) == POOLS_MAX)
        return err_set(err, ERR_LIMIT, "%s: there are %d types of GPUs already", has->name,
                       POOLS_MAX - POOL_GPU);
    if (!n)
        return 0;
    if (n->gpu_held && pool != n->gpu_pool)
        return err_set(err, ERR_CONFLICT, "%s: jobs hold GPUs of another type", n->name);
    if (has->cpus < n->cpu_held || has->gpus < n->gpu_held ||
        (has->memory_mb && has->memory_mb < n->memory_held) ||
        (devices_any(&has->devices) && !devices_fit(&n->devices_held, &has->devices)))
        return err_set(err, ERR_CONFLICT, "%s: jobs hold more than that", n->name);
    return 0;
}

/* Whether a paused task could ever resume on the node with the size that it had. */
static bool could_resume(const struct node *n, const struct task *t, units_t units)
{
    return units <= node_size(n, t->pool) && job_cpus(t->job, t->pool, units) <= n->cpus;
}

static void evict_too_large(struct engine *e, uint32_t node)
{
    for (uint32_t i = 0; e->snapshot.npaused && i < e->tasks_n; i++) {
        const struct task *t = &e->tasks[i];
        bool paused = t->job && t->phase == TASK_PAUSED && !task_keeps_memory(t);
        units_t units = paused ? placement_on(&t->at, node) : 0;
        if (units && !could_resume(&e->cluster.nodes[node], t, units))
            apply_evict(e, i);
    }
}

static void on_capacity(struct engine *e, uint32_t node, const struct capacity *has)
{
    if (node == e->cluster.n)
        state_add_node(e, has->name);
    struct node *n = &e->cluster.nodes[node];
    n->cpus = has->cpus;
    n->gpus = has->gpus;
    n->memory_mb = has->memory_mb;
    n->memory_used = has->memory_used;
    if (devices_any(&has->devices))
        n->devices = has->devices;
    if (has->gpus) {
        unsigned pool = cluster_gpu_pool(&e->cluster, has->gpu_type);
        if (pool == POOLS_MAX) {
            pool = cluster_pools(&e->cluster);
            e->cluster.gpu_types[pool - POOL_GPU] = has->gpu_type;
        }
        n->gpu_pool = (uint8_t)pool;
    }
    evict_too_large(e, node);
    state_read_jobs(e);
    state_stale(e, node);
    e->snapshot.pools = 0;
    e->dirty = true;
}

static void on_sample(struct engine *e, uint32_t task, const struct sample *sample)
{
    struct task *t = &e->tasks[task];
    if (!t->history) {
        t->history = xmalloc(sizeof *t->history);
        history_init(t->history);
    }
    history_add(t->history, sample);
    /* What it reported in an earlier run was measured then. */
    if (isnan(t->history->mark.metric) && sample->at >= t->resumed_at)
        t->history->mark = t->history->last;
}

static void on_progress(struct engine *e, const struct event *event, usec_t now)
{
    struct task *t = &e->tasks[event->task];
    task_advance(t, now);
    t->work = event->work;
    t->done = event->done;
    if (t->saved > t->done)
        t->saved = t->done;
    state_touch(e, event->task);
}

static void on_hold(struct engine *e, uint32_t task, usec_t now)
{
    struct task *t = &e->tasks[task];
    if (t->phase == TASK_PAUSED)
        apply_evict(e, task);
    if (t->phase == TASK_STOPPING) {
        t->hold = true;
        return;
    }
    t->wait_time += now - t->queued_at;
    state_set_phase(e, task, TASK_HELD);
    state_unlink(e, task);
    e->dirty = true;
}

static void on_release(struct engine *e, uint32_t task, usec_t now)
{
    struct task *t = &e->tasks[task];
    if (t->phase == TASK_STOPPING) {
        t->hold = false;
        return;
    }
    state_set_phase(e, task, TASK_QUEUED);
    t->queued_at = now;
    state_link(e, task);
    e->dirty = true;
}

/* Whether nodes count the same for both jobs. */
static bool counts_the_same(const struct job *a, const struct job *b)
{
    return a->pool == b->pool && a->whole == b->whole && a->cpus == b->cpus &&
           a->worker == b->worker && a->apart == b->apart && a->nodes == b->nodes &&
           a->memory_mb == b->memory_mb && devices_equal(&a->devices, &b->devices);
}

static int on_job(struct engine *e, uint32_t task, const struct job *job, usec_t now,
                  struct err *err)
{
    struct task *t = &e->tasks[task];
    if (cluster_can_hold(&e->cluster, job, err) < 0)
        return -1;
    if (t->at.n && !counts_the_same(t->job, job))
        return err_set(
            err, ERR_CONFLICT,
            "update: memory, devices, CPUs per GPU, kind of unit and whole cannot be changed while "
            "the job holds units");
    if (t->mate != task && t->job->sharing != job->sharing)
        return err_set(err, ERR_CONFLICT,
                       "update: its speed on shared units cannot be changed while it shares them");
    task_advance(t, now);
    state_set_job(e, task, job);
    if (t->phase == TASK_PAUSED && !task_keeps_memory(t) && !task_keeps_size(t))
        apply_evict(e, task);
    for (uint32_t i = 0; i < t->at.n; i++) /* it may use more or fewer CPUs now */
        state_stale(e, t->at.at[i].node);
    state_touch(e, task);
    e->costly |= has_cost(job);
    e->dirty = true;
    return 0;
}

static void on_policy(struct engine *e, const struct combo *combo)
{
    state_set_combo(e, combo);
    /* The new policy cannot use what the old one remembered. */
    memset(e->memo, 0, sizeof e->memo);
    for (int axis = 0; axis < AXES; axis++)
        memset(e->node_memo[axis], 0, e->cluster.n * sizeof **e->node_memo);
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        memset(e->tasks[i].memo, 0, sizeof e->tasks[i].memo);
        memset(e->tasks[i].list, 0, sizeof e->tasks[i].list);
    }
    for (uint32_t i = 0; i < e->cluster.n; i++)
        state_stale(e, i);
    for (size_t i = 0; i < e->running.n; i++)
        state_touch(e, e->running.at[i]);
    e->dirty = true;
}

/* Whether the task exists and is in one of the phases of the mask. */
static int require(const struct engine *e, uint32_t task, unsigned phases, const char *what,
                   struct err *err)
{
    static const char *const names[] = {"queued",   "running", "paused",
                                        "stopping", "held",    "riding"};
    if (task >= e->tasks_n || !e->tasks[task].job)
        return err_set(err, ERR_NOT_FOUND, "no task %u", task);
    if (!(phases >> e->tasks[task].phase & 1))
        return err_set(err, ERR_CONFLICT, "%s: the job is %s", what, names[e->tasks[task].phase]);
    return 0;
}

enum {
    QUEUED = 1 << TASK_QUEUED,
    RUNNING = 1 << TASK_RUNNING,
    PAUSED = 1 << TASK_PAUSED,
    STOPPING = 1 << TASK_STOPPING,
    HELD = 1 << TASK_HELD,
    RIDING = 1 << TASK_RIDING,
    ANY = QUEUED | RUNNING | PAUSED | STOPPING | HELD | RIDING,
};

/* Whether it would not lose its work if it left its nodes. */
static bool can_leave(const struct engine *e, uint32_t task)
{
    return task < e->tasks_n && e->tasks[task].job && !task_keeps_memory(&e->tasks[task]);
}

static bool holds_after_stop(const struct engine *e, uint32_t task)
{
    return task < e->tasks_n && e->tasks[task].hold;
}

/* The largest size, up to its own, with which the task fits on another node; 0 = it does not. */
static units_t fits_on(const struct engine *e, const struct task *t, uint32_t node)
{
    const struct node *n = &e->cluster.nodes[node];
    const struct job *j = t->job;
    bool gpu = t->pool != POOL_CPU;
    int64_t memory = n->memory_mb - n->memory_held - n->memory_used;
    units_t free = gpu ? n->gpus - n->gpu_held : n->cpus - n->cpu_held, best = 0;
    struct devices needed = n->devices_held;
    devices_add(&needed, &j->devices, 1);
    if ((gpu && n->gpu_pool != t->pool) || (n->memory_mb && memory < j->memory_mb) ||
        !devices_fit(&needed, &n->devices))
        return 0;
    for (units_t k = task_min(t); k && k <= t->n && k <= free; k = task_next(t, t->pool, k))
        if (!gpu || n->cpu_held + job_cpus(j, t->pool, k) <= n->cpus)
            best = k;
    return best;
}

/* The task goes on without its units on the node. */
static void on_lose(struct engine *e, uint32_t task, uint32_t node, usec_t now)
{
    struct task *t = &e->tasks[task];
    struct placement rest = {ARENA_ARRAY(&e->arena, t->at.n, struct slot), 0};
    units_t from = t->n, lost = placement_on(&t->at, node);
    for (uint32_t i = 0; i < t->at.n; i++)
        if (t->at.at[i].node != node)
            rest.at[rest.n++] = t->at.at[i];
    task_advance(t, now);
    state_vacate(e, task, true);
    state_occupy(e, task, t->pool, &rest, from - lost);
    t->changes++;
    t->resizes++;
    t->changed_at = now;
    state_touch(e, task);
    e->dirty = true;
}

static int check_lose(const struct engine *e, uint32_t task, uint32_t node, struct err *err)
{
    if (require(e, task, RUNNING, "lose", err) < 0)
        return -1;
    const struct task *t = &e->tasks[task];
    units_t lost = placement_on(&t->at, node);
    if (!t->job->worker || t->job->kind != JOB_MALLEABLE || !lost || t->at.at[0].node == node)
        return err_set(err, ERR_CONFLICT, "it cannot go on without node %u", node);
    if (t->n - lost < t->job->min)
        return err_set(err, ERR_CONFLICT, "fewer units than its smallest size would be left");
    return 0;
}

static int check_move(const struct engine *e, uint32_t task, uint32_t node, struct err *err)
{
    if (require(e, task, RUNNING, "move", err) < 0)
        return -1;
    const struct task *t = &e->tasks[task];
    if (node >= e->cluster.n)
        return err_set(err, ERR_NOT_FOUND, "no node %u", node);
    const struct node *n = &e->cluster.nodes[node];
    if (placement_on(&t->at, node))
        return err_set(err, ERR_CONFLICT, "it is on %s already", n->name);
    if (!t->job->whole)
        return err_set(err, ERR_CONFLICT, "it may be on several nodes");
    if (n->state != NODE_UP)
        return err_set(err, ERR_CONFLICT, "%s takes no jobs now", n->name);
    if (!fits_on(e, t, node))
        return err_set(err, ERR_CONFLICT, "%s has no room for it now", n->name);
    return 0;
}

int event_check(const struct engine *e, const struct event *v, struct err *err)
{
    switch (v->kind) {
    case EVENT_END:
        return require(e, v->task, ANY, "end", err);
    case EVENT_STOPPED:
        return require(e, v->task, STOPPING, "stopped", err);
    case EVENT_FAILED:
        return require(e, v->task, RUNNING | PAUSED | RIDING, "failed", err);
    case EVENT_HOLD:
        return require(e, v->task, QUEUED | (can_leave(e, v->task) ? PAUSED : 0) | STOPPING, "hold",
                       err);
    case EVENT_RELEASE:
        return require(e, v->task, HELD | (holds_after_stop(e, v->task) ? STOPPING : 0), "release",
                       err);
    case EVENT_PROGRESS:
        if (!work_is_valid(v->work) || !work_is_valid(v->done))
            return err_set(err, ERR_INVALID, "update: invalid progress, %g of %g", v->done,
                           v->work);
        return require(e, v->task, ANY, "update", err);
    case EVENT_SAMPLE:
    case EVENT_READY:
    case EVENT_JOB:
        return require(e, v->task, ANY, "update", err);
    case EVENT_NODE:
        if (v->node >= e->cluster.n)
            return err_set(err, ERR_NOT_FOUND, "no node %u", v->node);
        return 0;
    case EVENT_MOVE:
        return check_move(e, v->task, v->node, err);
    case EVENT_LOSE:
        return check_lose(e, v->task, v->node, err);
    case EVENT_CAPACITY:
        return check_capacity(e, v->node, v->has, err);
    default:
        return 0;
    }
}

int event_take(struct engine *e, const struct event *v, usec_t now, struct err *err)
{
    switch (v->kind) {
    case EVENT_SUBMIT:
        return on_submit(e, v->job, now, err);
    case EVENT_RESTORE:
        if (restore_task(e, v->job, v->was, now, err) < 0)
            return -1;
        e->costly |= has_cost(v->job);
        e->dirty = true;
        break;
    case EVENT_END:
        on_end(e, v->task, now);
        break;
    case EVENT_STOPPED:
        on_stopped(e, v->task, now);
        break;
    case EVENT_FAILED:
        on_failed(e, v->task, now);
        break;
    case EVENT_HOLD:
        on_hold(e, v->task, now);
        break;
    case EVENT_RELEASE:
        on_release(e, v->task, now);
        break;
    case EVENT_SAMPLE:
        on_sample(e, v->task, v->sample);
        break;
    case EVENT_PROGRESS:
        on_progress(e, v, now);
        break;
    case EVENT_READY:
        task_advance(&e->tasks[v->task], now);
        e->tasks[v->task].ready_at = v->at;
        state_touch(e, v->task);
        break;
    case EVENT_JOB:
        return on_job(e, v->task, v->job, now, err);
    case EVENT_NODE:
        on_node(e, v->node, v->state, now);
        break;
    case EVENT_MOVE:
        apply_move(e, v->task, v->node, fits_on(e, &e->tasks[v->task], v->node), now);
        e->dirty = true;
        break;
    case EVENT_LOSE:
        on_lose(e, v->task, v->node, now);
        break;
    case EVENT_CAPACITY:
        on_capacity(e, v->node, v->has);
        break;
    case EVENT_POLICY:
        on_policy(e, v->combo);
        break;
    case EVENT_TICK:
        break;
    }
    return 0;
}
