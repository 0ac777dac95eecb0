/* Owns groups of tasks on the same units. Invariants: the tasks of a group are a ring through
 * task.mate; exactly one of them is TASK_RUNNING and holds the units, the others are TASK_RIDING
 * and hold nothing, so that nodes, budgets and placers need not know of groups. */
#include "engine/ride.h"

#include "engine/state.h"

uint32_t ride_host(const struct engine *e, uint32_t task)
{
    uint32_t i = task;
    while (!task_running(&e->tasks[i]) && e->tasks[i].mate != task)
        i = e->tasks[i].mate;
    return i;
}

double ride_rate(const struct engine *e, uint32_t task)
{
    const struct sharing *group[SHARING_MOST];
    double rates[SHARING_MOST];
    unsigned n = 0;
    uint32_t i = task;
    do {
        group[n++] = e->tasks[i].job->sharing;
        i = e->tasks[i].mate;
    } while (i != task);
    return sharing_rates(group, n, e->tasks[task].pool, rates) ? rates[0] : 0;
}

static void touch_group(struct engine *e, uint32_t task)
{
    uint32_t i = task;
    do {
        state_touch(e, i);
        i = e->tasks[i].mate;
    } while (i != task);
}

/* Takes the task out of its ring. */
static void detach(struct engine *e, uint32_t task)
{
    uint32_t before = e->tasks[task].mate;
    touch_group(e, task);
    while (e->tasks[before].mate != task)
        before = e->tasks[before].mate;
    e->tasks[before].mate = e->tasks[task].mate;
    e->tasks[task].mate = task;
}

static void attach(struct engine *e, uint32_t task, uint32_t host)
{
    e->tasks[task].mate = e->tasks[host].mate;
    e->tasks[host].mate = task;
    touch_group(e, host);
}

static bool runs_on(const struct task *t, unsigned pool, units_t n)
{
    return n >= task_min(t) && n <= task_max(t) && task_may_use(t, pool) &&
           (n == t->job->min || speed_floor(job_speed(t->job, pool), n) == n);
}

void ride_settle(const struct engine *e, struct plan *plan)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->nrides; i++) {
        struct ride ride = plan->rides[i];
        const struct grant *g = plan_grant(plan, ride.host);
        const struct task *t = &e->tasks[ride.task];
        if (g && g->n && runs_on(t, g->pool, g->n) &&
            !(t->job->whole && plan_place(&e->snapshot, g).n > 1))
            plan->rides[kept++] = ride;
    }
    plan->nrides = kept;
}

/* The task no longer runs on the units of its host. */
static void get_off(struct engine *e, uint32_t task, usec_t now)
{
    struct task *t = &e->tasks[task];
    task_advance(t, now);
    detach(e, task);
    t->run_time += now - t->resumed_at;
    t->queued_at = now;
    state_set_phase(e, task, TASK_QUEUED);
}

/* By task: 1 + the host that the plan gives it; 0 = none. */
static const uint32_t *planned_hosts(struct engine *e, const struct plan *plan)
{
    uint32_t *host = ARENA_ARRAY(&e->arena, e->tasks_cap, uint32_t);
    for (uint32_t i = 0; i < plan->nrides; i++)
        host[plan->rides[i].task] = plan->rides[i].host + 1;
    return host;
}

void ride_leave(struct engine *e, const struct plan *plan, usec_t now)
{
    if (!e->snapshot.nriding)
        return;
    const uint32_t *host = planned_hosts(e, plan);
    for (uint32_t i = e->snapshot.first; i != TASK_NONE; i = e->links[i].next) {
        struct task *t = &e->tasks[i];
        if (t->phase != TASK_RIDING || host[i] == ride_host(e, i) + 1)
            continue;
        get_off(e, i, now);
        t->saved = t->done;
        t->preemptions++;
        state_effect(e, EFFECT_PREEMPT, i, 0, 0, 0);
    }
}

static bool has_granted(const struct task *host, const struct grant *g)
{
    return task_running(host) && host->pool == g->pool && host->n == g->n;
}

void ride_join(struct engine *e, const struct plan *plan, usec_t now)
{
    for (uint32_t i = 0; i < plan->nrides; i++) {
        uint32_t task = plan->rides[i].task, host = plan->rides[i].host;
        struct task *t = &e->tasks[task];
        if (t->phase != TASK_QUEUED || !has_granted(&e->tasks[host], plan_grant(plan, host)))
            continue; /* it rides already, or units are still being freed */
        usec_t pay = t->starts ? job_resume_cost(t->job) : 0;
        task_advance(t, now);
        t->wait_time += now - t->queued_at;
        t->pool = e->tasks[host].pool;
        state_set_phase(e, task, TASK_RIDING);
        attach(e, task, host);
        if (t->starts++ == 0)
            t->started_at = now;
        t->resumed_at = t->changed_at = now;
        t->ready_at = now + pay;
        state_effect(e, EFFECT_START, task, 0, e->tasks[host].n, pay);
    }
}

void ride_follow(struct engine *e, uint32_t host)
{
    usec_t ready = e->tasks[host].ready_at;
    for (uint32_t i = e->tasks[host].mate; i != host; i = e->tasks[i].mate) {
        e->tasks[i].pool = e->tasks[host].pool;
        if (e->tasks[i].ready_at < ready)
            e->tasks[i].ready_at = ready;
        state_touch(e, i);
    }
}

void ride_bequeath(struct engine *e, uint32_t task, usec_t now)
{
    struct task *t = &e->tasks[task];
    uint32_t heir = t->mate;
    if (heir == task)
        return;
    detach(e, task);
    if (task_running(t)) {
        units_t n = t->n;
        struct placement at = {arena_raw(&e->arena, t->at.n * sizeof *at.at), t->at.n};
        memcpy(at.at, t->at.at, t->at.n * sizeof *at.at);
        state_rest(e, task);
        state_vacate(e, task, true);
        task_advance(&e->tasks[heir], now);
        state_occupy(e, heir, t->pool, &at, n);
        state_run(e, heir);
    }
    state_set_phase(e, task, TASK_QUEUED);
}

void ride_fail(struct engine *e, uint32_t task, usec_t now)
{
    if (e->tasks[task].phase == TASK_RIDING)
        get_off(e, task, now);
    while (e->tasks[task].mate != task) {
        uint32_t rider = e->tasks[task].mate;
        get_off(e, rider, now);
        e->tasks[rider].done = e->tasks[rider].saved;
        e->tasks[rider].failures++;
    }
}
