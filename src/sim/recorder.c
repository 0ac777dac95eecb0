/* Owns the recording of a simulation's course. A segment is a span in which a
 * job's allocation did not change; if the next one follows at once on another node, the job
 * has moved. One sample is kept per instant, and only if it differs from the last. */
#include "sim/recorder.h"

#include "engine/ride.h"

void recorder_init(struct recorder *rec, struct sim_result *r)
{
    *rec = (struct recorder){.r = r};
}

void recorder_done(struct recorder *rec)
{
    free(rec->open);
}

static void reserve(struct recorder *rec, uint32_t cap)
{
    if (rec->cap >= cap)
        return;
    rec->open = xgrowarray(rec->open, rec->cap, cap, sizeof *rec->open);
    rec->cap = cap;
}

static void close_segment(struct recorder *rec, struct sim_segment *s, usec_t now)
{
    if (s->n && now > s->from) {
        s->to = now;
        VEC_PUSH(&rec->r->segments, *s);
    }
    s->n = 0;
}

/* A policy with lists says by them why it has moved a job. */
static void note_move(struct recorder *rec, const struct engine *e, uint32_t task, uint32_t from,
                      usec_t now)
{
    const struct combo *c = &e->config.combo;
    const struct policy *placer = c->policy[AXIS_PLACE];
    const struct task *t = &e->tasks[task];
    struct sim_move m = {.at = now,
                         .job = t->job->id,
                         .from = from,
                         .to = e->tasks[ride_host(e, task)].at.at[0].node};
    struct remark remark = {{0}, {0}};
    if (placer->describe && placer->describe(&e->snapshot, &c->params[AXIS_PLACE], task, &remark))
        memcpy(m.list, remark.list, sizeof m.list);
    VEC_PUSH(&rec->r->moves, m);
}

void recorder_follow(struct recorder *rec, const struct engine *e, usec_t now)
{
    reserve(rec, e->tasks_cap);
    for (size_t i = 0; i < e->touched.n; i++) {
        const struct task *t = &e->tasks[e->touched.at[i]];
        struct sim_segment *s = &rec->open[e->touched.at[i]];
        const struct task *host = t->job ? &e->tasks[ride_host(e, e->touched.at[i])] : t;
        bool runs = t->job && task_running(host) && host->at.n;
        uint32_t node = runs ? host->at.at[0].node : 0;
        double used = runs && t->pool == POOL_CPU ? t->cpu_used : (double)host->n;
        if (runs && s->n == host->n && s->used == used && s->node == node && s->job == t->job->id)
            continue;
        if (runs && s->n && s->job == t->job->id && s->node != node)
            note_move(rec, e, e->touched.at[i], s->node, now);
        close_segment(rec, s, now);
        if (runs)
            *s = (struct sim_segment){
                .job = t->job->id, .node = node, .from = now, .n = host->n, .used = used};
    }
}

void recorder_sample(struct recorder *rec, const struct engine *e, usec_t now)
{
    units_t size = 0, held = 0;
    double soft = 0;
    for (unsigned p = 0; p < e->snapshot.pools; p++)
        size += p != POOL_CPU || e->snapshot.ncpu ? e->snapshot.size[p] : 0;
    for (size_t i = 0; i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        if (t->pool == POOL_CPU)
            soft += t->cpu_used;
        else
            held += t->n;
    }
    struct sim_sample s = {
        .at = now,
        .running = (uint32_t)e->running.n + e->snapshot.nriding,
        .waiting = e->snapshot.active - e->snapshot.nriding - (uint32_t)e->running.n,
        .used = size ? ((double)held + soft) / (double)size : 0,
    };
    size_t n = rec->r->samples.n;
    struct sim_sample *last = n ? &rec->r->samples.at[n - 1] : NULL;
    if (last && last->at == now) {
        *last = s;
        return;
    }
    if (last && last->running == s.running && last->waiting == s.waiting && last->used == s.used)
        return;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): capacity means memory */
    VEC_PUSH(&rec->r->samples, s);
}
