/* Owns the audit of an engine's state. Each rule is one function that returns
 * false with a text; all sums are made again. */
#include "support/audit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static bool broken(struct audit *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool broken(struct audit *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(a->why, sizeof a->why, fmt, args);
    va_end(args);
    return false;
}

static bool is_active(const struct task *t)
{
    return t->phase == TASK_QUEUED || t->phase == TASK_RUNNING || t->phase == TASK_PAUSED ||
           t->phase == TASK_RIDING;
}

/* Whether the table of the job's speeds has this size. A fraction of a CPU lies
 * between two sizes that it has. */
static bool is_admissible(const struct job *j, unsigned pool, units_t n)
{
    const struct speed *s = &j->speeds[j->nspeeds == 1 ? 0 : pool];
    uint32_t whole = (uint32_t)(n / UNIT);
    if (!s->at || n == j->min)
        return true;
    if (whole > s->len || (whole > 0 && s->next[whole - 1] != whole))
        return false;
    return n % UNIT == 0 || whole == s->len || s->next[whole] == whole + 1;
}

static bool audit_size(struct audit *a, const struct task *t, bool excused)
{
    const struct job *j = t->job;
    bool holds = t->phase == TASK_RUNNING || t->phase == TASK_STOPPING;
    if (t->n && !holds)
        return broken(a, "job %s holds units in phase %d", j->name, t->phase);
    if (!holds || t->phase == TASK_STOPPING || excused)
        return true;
    if (t->n < j->min || t->n > j->max)
        return broken(a, "job %s holds %lld of %lld to %lld", j->name, (long long)t->n,
                      (long long)j->min, (long long)j->max);
    if (!is_admissible(j, t->pool, t->n))
        return broken(a, "job %s cannot run on %lld", j->name, (long long)t->n);
    if (t->pool != j->pool && !(j->pool == POOL_ANY_GPU && t->pool >= POOL_GPU))
        return broken(a, "job %s is in pool %u", j->name, t->pool);
    return true;
}

static bool audit_places(struct audit *a, const struct engine *e, const struct task *t)
{
    units_t sum = 0;
    bool keeps = t->phase == TASK_PAUSED || t->phase == TASK_STOPPING;
    if (!t->n && t->at.n && !keeps)
        return broken(a, "job %s has places and no units", t->job->name);
    if (t->job->whole && t->at.n > 1)
        return broken(a, "job %s is not whole", t->job->name);
    for (uint32_t i = 0; i < t->at.n; i++) {
        const struct slot *s = &t->at.at[i];
        const struct node *n = &e->cluster.nodes[s->node];
        sum += s->units;
        if (s->node >= e->cluster.n || s->units <= 0)
            return broken(a, "job %s has an impossible place", t->job->name);
        if (n->state == NODE_DOWN)
            return broken(a, "job %s is on %s, which is down", t->job->name, n->name);
        if (t->pool != POOL_CPU && (n->gpu_pool != t->pool || s->units % UNIT))
            return broken(a, "job %s has %lld of pool %u on %s", t->job->name, (long long)s->units,
                          t->pool, n->name);
        for (uint32_t k = 0; k < i; k++)
            if (t->at.at[k].node == s->node)
                return broken(a, "job %s is on %s twice", t->job->name, n->name);
    }
    for (uint32_t i = 0; t->job->worker && i < t->at.n; i++)
        if (t->at.at[i].units % t->job->worker ||
            (t->job->apart && t->at.at[i].units != t->job->worker))
            return broken(a, "job %s has a part of a worker", t->job->name);
    if (t->job->nodes && t->at.n > t->job->nodes)
        return broken(a, "job %s is on %u nodes", t->job->name, t->at.n);
    if (t->n && sum != t->n)
        return broken(a, "job %s has places for %lld, not %lld", t->job->name, (long long)sum,
                      (long long)t->n);
    return true;
}

/* Units of a shadow's job on the node before this step. */
static units_t had_on(const struct audit_shadow *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i].node == node)
            return s->at[i].units;
    return 0;
}

/* A job that was changed keeps its id; any other is a new one. */
static bool same_job(const struct audit_shadow *s, const struct task *t)
{
    return s->job && t->job && s->job->id == t->job->id;
}

/* Nothing new on a node that is not up. */
static bool audit_taken(struct audit *a, const struct engine *e, uint32_t task)
{
    const struct task *t = &e->tasks[task];
    const struct audit_shadow *s = &a->shadow[task];
    for (uint32_t i = 0; t->n && !s->rode && i < t->at.n; i++) {
        const struct node *n = &e->cluster.nodes[t->at.at[i].node];
        units_t had = same_job(s, t) ? had_on(s, t->at.at[i].node) : 0;
        if (n->state != NODE_UP && t->at.at[i].units > had)
            return broken(a, "job %s took units on %s, which is not up", t->job->name, n->name);
    }
    return true;
}

/* All its time in the system was spent waiting or running. */
static bool audit_time(struct audit *a, const struct audit_shadow *s, const struct task *t,
                       usec_t now)
{
    bool trains = t->phase == TASK_RUNNING || t->phase == TASK_RIDING;
    usec_t spell = now - (trains ? t->resumed_at : t->queued_at);
    if (s->was_held || t->phase == TASK_HELD)
        return true;
    if (t->wait_time + t->run_time + spell != now - s->came)
        return broken(a, "job %s: %lld waiting, %lld running, %lld in this spell since %lld",
                      t->job->name, (long long)t->wait_time, (long long)t->run_time,
                      (long long)spell, (long long)s->came);
    if (t->done < 0 || t->saved > t->done)
        return broken(a, "job %s has done %g and saved %g", t->job->name, t->done, t->saved);
    return true;
}

/* CPUs that a running task uses on a node where it has these units; one on several
 * nodes, and the CPUs beside a GPU, are as they were granted. */
static double cpus_used(const struct task *t, units_t units)
{
    if (t->pool != POOL_CPU)
        return (double)(units / UNIT * t->job->cpus);
    return t->at.n == 1 ? t->cpu_used : (double)units;
}

static bool audit_node(struct audit *a, const struct engine *e, uint32_t node)
{
    const struct node *n = &e->cluster.nodes[node];
    units_t cpu = 0, gpu = 0;
    double used = 0;
    int64_t memory = 0;
    struct devices devices = {{0}};
    size_t tasks = 0, listed = 0;
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        const struct task *t = &e->tasks[i];
        for (uint32_t k = 0; t->job && k < t->at.n; k++) {
            if (t->at.at[k].node != node)
                continue;
            units_t units = t->n ? t->at.at[k].units : 0;
            cpu += t->pool == POOL_CPU ? units : units / UNIT * t->job->cpus;
            gpu += t->pool == POOL_CPU ? 0 : units;
            memory += t->job->memory_mb;
            for (int d = 0; d < DEVICES_MAX; d++)
                devices.of[d] += t->job->devices.of[d];
            tasks += units > 0;
            if (t->phase == TASK_RUNNING)
                used += cpus_used(t, units);
            for (size_t l = 0; l < n->tasks.n; l++)
                listed += n->tasks.at[l] == i;
        }
    }
    if (cpu != n->cpu_held || gpu != n->gpu_held || memory != n->memory_held)
        return broken(a, "%s counts %lld, %lld and %lld, its tasks %lld, %lld and %lld", n->name,
                      (long long)n->cpu_held, (long long)n->gpu_held, (long long)n->memory_held,
                      (long long)cpu, (long long)gpu, (long long)memory);
    if (cpu > n->cpus || gpu > n->gpus || (n->memory_mb && memory > n->memory_mb))
        return broken(a, "%s holds more than it has", n->name);
    for (int d = 0; d < DEVICES_MAX; d++)
        if (devices.of[d] != n->devices_held.of[d] || devices.of[d] > n->devices.of[d])
            return broken(a, "%s counts %d of its %d devices %d, its tasks hold %d", n->name,
                          n->devices_held.of[d], n->devices.of[d], d, devices.of[d]);
    if (tasks != n->tasks.n || listed != tasks)
        return broken(a, "%s lists %zu tasks, not %zu", n->name, n->tasks.n, tasks);
    if (used > (double)n->cpus * (1 + 1e-9))
        return broken(a, "%s uses %g of %lld CPUs", n->name, used, (long long)n->cpus);
    return true;
}

static bool audit_running(struct audit *a, const struct engine *e)
{
    size_t running = 0, cpu = 0;
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        const struct task *t = &e->tasks[i];
        if (!t->job || t->phase != TASK_RUNNING)
            continue;
        running++;
        cpu += t->pool == POOL_CPU;
        if (t->running_at >= e->running.n || e->running.at[t->running_at] != i)
            return broken(a, "job %s is not in the running list", t->job->name);
        if (t->job->no_preempt && !t->pinned)
            return broken(a, "job %s is not pinned", t->job->name);
        if (!(t->rate > 0))
            return broken(a, "job %s runs at the rate %g", t->job->name, t->rate);
    }
    if (running != e->running.n || cpu != e->snapshot.ncpu)
        return broken(a, "%zu in the running list, not %zu", e->running.n, running);
    return true;
}

/* A group has one task with units, on which all of them can run, and up to three others. */
static bool audit_group(struct audit *a, const struct engine *e, uint32_t task)
{
    uint32_t running = 0, riding = 0, host = task, i = task;
    const struct task *t = &e->tasks[task];
    do {
        running += e->tasks[i].phase == TASK_RUNNING;
        riding += e->tasks[i].phase == TASK_RIDING;
        host = e->tasks[i].phase == TASK_RUNNING ? i : host;
        i = e->tasks[i].mate;
    } while (i != task && running + riding <= SHARING_MOST);
    if (t->mate == task)
        return t->phase != TASK_RIDING || broken(a, "job %s rides alone", t->job->name);
    if (i != task || running != 1 || riding < 1 || !job_can_share(t->job))
        return broken(a, "job %s is in a group of %u and %u", t->job->name, running, riding);
    if (!(t->rate > 0))
        return broken(a, "job %s rides at the rate %g", t->job->name, t->rate);
    const struct task *h = &e->tasks[host];
    if (t->pool != h->pool || (t->job->whole && h->at.n > 1))
        return broken(a, "job %s rides on %lld units", t->job->name, (long long)h->n);
    return true;
}

static bool audit_riding(struct audit *a, const struct engine *e)
{
    uint32_t riding = 0;
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        riding += e->tasks[i].job && e->tasks[i].phase == TASK_RIDING;
        if (e->tasks[i].job && !audit_group(a, e, i))
            return false;
    }
    return riding == e->snapshot.nriding || broken(a, "%u tasks ride", riding);
}

static bool comes_before(const struct task *x, const struct task *y)
{
    const struct job *a = x->job, *b = y->job;
    if (x->pinned != y->pinned)
        return x->pinned;
    if (!x->pinned && a->priority != b->priority)
        return a->priority > b->priority;
    return a->submit != b->submit ? a->submit < b->submit : a->id < b->id;
}

static bool audit_order(struct audit *a, const struct engine *e)
{
    const struct snapshot *s = &e->snapshot;
    uint32_t listed = 0, active = 0, prev = TASK_NONE;
    for (uint32_t i = s->first; i != TASK_NONE && listed <= e->tasks_n; i = e->links[i].next) {
        const struct task *t = &e->tasks[i];
        if (!t->job || !is_active(t) || e->links[i].prev != prev)
            return broken(a, "task %u does not belong into the order", i);
        if (s->by_submit && prev != TASK_NONE && !comes_before(&e->tasks[prev], t))
            return broken(a, "job %s is out of order", t->job->name);
        prev = i;
        listed++;
    }
    for (uint32_t i = 0; i < e->tasks_n; i++)
        active += e->tasks[i].job && is_active(&e->tasks[i]);
    if (listed != active || active != s->active || s->last != prev)
        return broken(a, "%u in the order, %u counted, %u active", listed, s->active, active);
    return true;
}

/* A size that its job no longer allows may stay until it can be changed. */
static void note_change(struct audit_shadow *s, const struct task *t)
{
    units_t had = 0;
    for (uint32_t i = 0; i < s->n; i++)
        had += s->at[i].units;
    if (!same_job(s, t) || had != t->n)
        s->excused = false;
    else if (s->job != t->job)
        s->excused = t->n > 0;
}

static void remember(struct audit_shadow *s, const struct task *t, usec_t now)
{
    if (!same_job(s, t)) {
        s->came = now;
        s->was_held = false;
    }
    s->job = t->job;
    s->runs = t->job && t->phase == TASK_RUNNING;
    s->rode = t->job && t->phase == TASK_RIDING;
    s->limit = t->cpu_limit;
    s->weight = t->cpu_weight;
    s->share = llround(t->cpu_used);
    memcpy(s->list, t->list, sizeof s->list);
    s->was_held |= t->job && t->phase == TASK_HELD;
    s->n = t->job && t->n ? t->at.n : 0;
    if (s->n) {
        s->at = xreallocarray(s->at, s->n, sizeof *s->at);
        memcpy(s->at, t->at.at, s->n * sizeof *s->at);
    }
}

static const struct effect *find_effect(const struct engine *e, enum effect_kind kind,
                                        uint32_t task, enum axis axis)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        const struct effect *f = &e->effects.at[i];
        if (f->kind == kind && f->task == task && (axis == AXES || f->axis == axis))
            return f;
    }
    return NULL;
}

/* Changes of a task's CPUs are told, and nothing else is. When it starts, they are as many
 * as its units. */
static bool audit_share(struct audit *a, const struct engine *e, uint32_t task)
{
    const struct task *t = &e->tasks[task];
    const struct audit_shadow *s = &a->shadow[task];
    bool same = same_job(s, t), started = !same || !s->runs;
    units_t limit = started ? t->n : s->limit, was = started ? t->n : s->share;
    units_t share = llround(t->cpu_used);
    bool changed = limit != t->cpu_limit || was != share || (same ? s->weight : 1) != t->cpu_weight;
    const struct effect *f = find_effect(e, EFFECT_SHARE, task, AXES);
    if (!t->job || t->phase != TASK_RUNNING || t->pool != POOL_CPU)
        return !f || broken(a, "a share of task %u, which has none", task);
    if (changed != (f != NULL) || (f && (f->from != was || f->to != share)))
        return broken(a, "job %s has %lld of limit %lld, before %lld of %lld; it was %stold",
                      t->job->name, (long long)share, (long long)t->cpu_limit, (long long)was,
                      (long long)limit, f ? "" : "not ");
    return true;
}

/* So are changes of its lists, which another policy does not inherit. */
static bool audit_lists(struct audit *a, const struct engine *e, uint32_t task)
{
    const struct task *t = &e->tasks[task];
    const struct audit_shadow *s = &a->shadow[task];
    for (enum axis axis = 0; t->job && axis < AXES; axis++) {
        unsigned was = same_job(s, t) ? s->list[axis] : 0, is = t->list[axis];
        const struct effect *f = find_effect(e, EFFECT_LIST, task, axis);
        if (is && (was != is) != (f != NULL))
            return broken(a, "job %s went from list %u to %u", t->job->name, was, is);
        if (f && (f->from != was || f->to != is))
            return broken(a, "job %s was told another list than %u", t->job->name, is);
    }
    return true;
}

/* Whether the task had been preempted before and was so again too soon. */
static bool is_too_soon(const struct engine *e, const struct task *t, const struct effect *f)
{
    bool stops = f->kind == EFFECT_PAUSE || (f->kind == EFFECT_PREEMPT && f->from > 0);
    return stops && t->phase != TASK_RIDING && t->preemptions > 1 &&
           t->queued_at - t->resumed_at < e->config.min_run;
}

/* Who makes room does so for another task, which has its units now or waits for them. */
static bool audit_taker(struct audit *a, const struct engine *e, const struct effect *f)
{
    const struct task *by = f->by == TASK_NONE ? NULL : &e->tasks[f->by];
    bool stops = f->kind == EFFECT_PAUSE || f->kind == EFFECT_PREEMPT;
    if (by && (!stops || f->by == f->task || !by->job || !is_active(by)))
        return broken(a, "job %s makes room for task %u", e->tasks[f->task].job->name, f->by);
    return true;
}

/* What must not be preempted is not, nor moved. */
static bool audit_effects(struct audit *a, const struct engine *e)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        const struct effect *f = &e->effects.at[i];
        const struct task *t = &e->tasks[f->task];
        const struct job *j = t->job;
        bool forbidden =
            f->kind == EFFECT_PREEMPT || f->kind == EFFECT_PAUSE || f->kind == EFFECT_MOVE;
        if (j && j->no_preempt && forbidden)
            return broken(a, "job %s must not be preempted, effect %d", j->name, f->kind);
        if (j && j->no_restart && (f->kind == EFFECT_PREEMPT || f->kind == EFFECT_MOVE))
            return broken(a, "job %s cannot restart, effect %d", j->name, f->kind);
        if (j && is_too_soon(e, t, f))
            return broken(a, "job %s is preempted again after %lld", j->name,
                          (long long)(t->queued_at - t->resumed_at));
        if (j && !audit_taker(a, e, f))
            return false;
    }
    return true;
}

bool audit_state(struct audit *a, const struct engine *e)
{
    for (uint32_t i = 0; i < e->tasks_n; i++)
        if (e->tasks[i].job && !audit_places(a, e, &e->tasks[i]))
            return false;
    for (uint32_t i = 0; i < e->cluster.n; i++)
        if (!audit_node(a, e, i))
            return false;
    return audit_running(a, e) && audit_riding(a, e) && audit_order(a, e);
}

bool audit_step(struct audit *a, const struct engine *e, usec_t now)
{
    if (a->cap < e->tasks_n) {
        a->shadow = xreallocarray(a->shadow, e->tasks_n, sizeof *a->shadow);
        memset(a->shadow + a->cap, 0, (e->tasks_n - a->cap) * sizeof *a->shadow);
        a->cap = e->tasks_n;
    }
    if (!audit_state(a, e) || !audit_effects(a, e))
        return false;
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        const struct task *t = &e->tasks[i];
        note_change(&a->shadow[i], t);
        if (t->job && !(audit_size(a, t, a->shadow[i].excused) && audit_taken(a, e, i)))
            return false;
        if (!audit_share(a, e, i) || !audit_lists(a, e, i))
            return false;
        remember(&a->shadow[i], t, now);
        if (t->job && !audit_time(a, &a->shadow[i], t, now))
            return false;
    }
    return true;
}

void audit_done(struct audit *a)
{
    for (uint32_t i = 0; i < a->cap; i++)
        free(a->shadow[i].at);
    free(a->shadow);
    *a = (struct audit){0};
}
