/* Owns the rates of progress. Under a soft sharer the CPUs of a node are divided among its
 * tasks as the kernel would divide them (model/divide.c); otherwise each task uses what it
 * was granted. Only nodes and tasks that the step has marked are visited. EFFECT_SHARE is
 * emitted for exactly those tasks whose CPUs have changed, for whatever reason: their own
 * limit or weight, or a neighbour that started, ended or was resized.
 *
 * With config.interference f, a task whose neighbours keep a share L of its node busy is slower by
 * the factor 1 + f L. Policies do not know: they see the speed curves. */
#include "engine/rates.h"

#include <math.h>

#include "engine/ride.h"
#include "engine/state.h"
#include "model/divide.h"

/* Divides a node's CPUs among the tasks that share them, by their limits and weights. */
static void divide_node(struct engine *e, uint32_t index, usec_t now)
{
    const struct node *node = &e->cluster.nodes[index];
    units_t cpus = node->cpus;
    struct claim *claims = ARENA_ARRAY(&e->arena, node->tasks.n + 1, struct claim);
    uint32_t *who = ARENA_ARRAY(&e->arena, node->tasks.n + 1, uint32_t), n = 0;
    for (size_t i = 0; i < node->tasks.n; i++) {
        const struct task *t = &e->tasks[node->tasks.at[i]];
        if (!task_running(t))
            continue;
        if (!task_shares_cpus(t)) {
            cpus -= job_cpus(t->job, t->pool, placement_on(&t->at, index));
            continue;
        }
        units_t most = t->cpu_limit < t->job->max ? t->cpu_limit : t->job->max;
        claims[n] = (struct claim){(double)most, t->cpu_weight, 0};
        who[n++] = node->tasks.at[i];
    }
    divide_cpus((double)cpus, claims, n);
    for (uint32_t i = 0; i < n; i++) {
        struct task *t = &e->tasks[who[i]];
        if (t->cpu_used == claims[i].got)
            continue;
        task_advance(t, now);
        t->cpu_used = claims[i].got;
        state_touch(e, who[i]);
    }
}

/* The share of the node's units that the task keeps busy. */
static double load_of(const struct engine *e, const struct task *t, uint32_t index)
{
    const struct node *node = &e->cluster.nodes[index];
    double units = (double)placement_on(&t->at, index);
    if (t->pool != POOL_CPU)
        return node->gpus ? units / (double)node->gpus : 0;
    return t->n && node->cpus ? t->cpu_used * units / (double)t->n / (double)node->cpus : 0;
}

/* The share that other tasks keep busy, on the node of the task where it is largest: its slowest
 * worker holds up the others. */
static double crowding(const struct engine *e, const struct task *t)
{
    double most = 0;
    for (uint32_t i = 0; i < t->at.n; i++) {
        uint32_t index = t->at.at[i].node;
        const struct node *node = &e->cluster.nodes[index];
        double others = 0;
        for (size_t k = 0; k < node->tasks.n; k++) {
            const struct task *other = &e->tasks[node->tasks.at[k]];
            if (other != t && task_running(other))
                others += load_of(e, other, index);
        }
        most = fmax(most, fmin(others, 1));
    }
    return most;
}

/* How fast the task progresses, on how many CPUs, and how many of them it keeps busy: threads that
 * wait for each other sleep, so n CPUs are as busy as the job is faster on them than on one. */
static void set_rate(const struct engine *e, struct task *t, bool soft)
{
    const struct speed *speed = job_speed(t->job, t->pool);
    if (t->phase == TASK_RIDING) {
        t->rate = speed_at(speed, e->tasks[ride_host(e, (uint32_t)(t - e->tasks))].n);
        t->cpu_used = 0;
    } else if (!task_running(t)) {
        t->rate = 0;
        t->cpu_used = 0;
        t->cpu_busy = 0;
    } else if (soft && task_shares_cpus(t)) {
        t->rate = speed_at_share(speed, t->cpu_used);
    } else {
        t->rate = speed_at(speed, t->n);
        t->cpu_used = (double)job_cpus(t->job, t->pool, t->n);
    }
    t->cpu_busy = t->pool == POOL_CPU ? fmin(t->cpu_used, t->rate * UNIT) : t->cpu_used;
    if (t->mate != t - e->tasks)
        t->rate *= ride_rate(e, (uint32_t)(t - e->tasks));
    if (e->config.interference > 0)
        t->rate /= 1 + e->config.interference * crowding(e, t);
}

/* What a task does changes the speed of all tasks on its node. */
static void touch_neighbours(struct engine *e, uint32_t index)
{
    const struct node *node = &e->cluster.nodes[index];
    for (size_t i = 0; i < node->tasks.n; i++)
        state_touch(e, node->tasks.at[i]);
}

/* Emits EFFECT_SHARE if the task's CPUs have changed. CPUs next to GPUs follow from its size. */
static void tell_share(struct engine *e, uint32_t task)
{
    struct task *t = &e->tasks[task];
    struct cpu_told now = {t->cpu_limit, t->cpu_weight, llround(t->cpu_used)}, last = t->told;
    if (!task_running(t) || t->pool != POOL_CPU)
        return;
    if (now.limit == last.limit && now.weight == last.weight && now.share == last.share)
        return;
    t->told = now;
    state_effect(e, EFFECT_SHARE, task, last.share, now.share, 0);
}

void rates_refresh(struct engine *e, usec_t now)
{
    bool soft = e->config.combo.policy[AXIS_SHARE]->soft;
    for (size_t i = 0; i < e->stale.n; i++) {
        e->stale_mark[e->stale.at[i]] = false;
        if (soft)
            divide_node(e, e->stale.at[i], now);
        if (e->config.interference > 0)
            touch_neighbours(e, e->stale.at[i]);
    }
    for (size_t i = 0; i < e->touched.n; i++) {
        struct task *t = &e->tasks[e->touched.at[i]];
        if (!t->job)
            continue;
        task_advance(t, now);
        set_rate(e, t, soft);
        tell_share(e, e->touched.at[i]);
    }
}
