/* Owns the driving of a random world. All that happens at one instant is gathered
 * first, judged by the state before it, at most one event for each task, and only
 * then fed: so that the order of feeding is the driver's free choice. Nodes change
 * at instants of their own. */
#include "support/chaos.h"

#include <math.h>
#include <stdio.h>

#include "policy/combo.h"
#include "support/audit.h"
#include "support/chaos_world.h"
#include "support/effects.h"

enum { GRID = 10 * USEC_PER_SEC, STEPS_MAX = 400000, IDLE_MAX = 2000 };

enum incident_kind { NODE, HOLD, RELEASE, CANCEL, FAIL, CHANGE, ESTIMATE, CAPACITY, POLICY };

struct incident {
    usec_t at;
    enum incident_kind kind;
    uint32_t subject; /* job or node */
    enum node_state state;
    double factor; /* of the estimate */
    const struct job *job;
    const struct capacity *has;
};

struct chaos {
    const struct chaos_options *o;
    struct chaos_result *out;
    struct arena arena;
    struct rng rng;
    struct engine e;
    struct audit audit;
    struct cluster cluster;
    struct job *jobs;
    uint32_t arrived;
    struct combo combo, combo2;
    bool metrics;
    VEC(struct incident) incidents; /* by time */
    size_t next_incident;
    uint32_t *task_of;       /* by job; TASK_NONE = not in the engine */
    usec_t *stops_at;        /* by job */
    struct cpu_told *shares; /* by job, at the end of the last instant */
    usec_t now;
    uint32_t idle; /* ticks in a row that changed nothing while nothing ran */
    VEC(struct event) events;
    bool *busy; /* by job: it has an event at this instant */
};

static bool fail(struct chaos *c, const char *what)
{
    snprintf(c->out->why, sizeof c->out->why, "t=%.6f, step %llu: %s", time_seconds(c->now),
             (unsigned long long)c->out->steps, what);
    return false;
}

static usec_t draw_instant(struct chaos *c, usec_t until)
{
    return chaos_between(&c->rng, 0, until / GRID) * GRID;
}

/* The job with other terms: what EVENT_JOB may change. */
static const struct job *draw_change(struct chaos *c, const struct job *old)
{
    struct job *j = ARENA_NEW(&c->arena, struct job);
    *j = *old;
    j->priority = (int32_t)chaos_between(&c->rng, -1, 1);
    j->deadline = chaos_maybe(&c->rng, 50) ? USEC_NEVER : old->submit + 30 * GRID;
    if (j->kind == JOB_MALLEABLE && !j->speeds->at && chaos_maybe(&c->rng, 60)) {
        if (chaos_maybe(&c->rng, 30))
            j->min = chaos_between(&c->rng, 1, 6) * UNIT;
        j->max = j->min + chaos_between(&c->rng, 0, 4) * UNIT;
        j->req = j->min;
    }
    return j;
}

/* What the node has, and a little more. The number after the last is a node like the first. */
static const struct capacity *draw_capacity(struct chaos *c, uint32_t node, bool more)
{
    struct capacity *has = ARENA_NEW(&c->arena, struct capacity);
    const struct node *n = &c->cluster.nodes[node < c->cluster.n ? node : 0];
    *has =
        (struct capacity){.name = node < c->cluster.n ? n->name : "new",
                          .cpus = n->cpus,
                          .gpus = n->gpus,
                          .gpu_type = n->gpus ? c->cluster.gpu_types[n->gpu_pool - POOL_GPU] : NULL,
                          .memory_mb = n->memory_mb};
    if (more && n->cpus)
        has->cpus += chaos_between(&c->rng, 1, 4) * UNIT;
    if (more && n->gpus)
        has->gpus += chaos_between(&c->rng, 1, 4) * UNIT;
    return has;
}

static void add_incident(struct chaos *c, usec_t until)
{
    struct incident i = {.at = draw_instant(c, until), .factor = 0.5 + rng_uniform(&c->rng)};
    i.kind = (enum incident_kind)chaos_between(&c->rng, NODE, CAPACITY);
    i.subject = (uint32_t)rng_below(&c->rng, c->o->jobs);
    struct incident undo = i;
    undo.at = i.at + chaos_between(&c->rng, 1, 30) * GRID;
    switch (i.kind) {
    case NODE:
        i.subject = undo.subject = (uint32_t)rng_below(&c->rng, c->cluster.n);
        i.state = (enum node_state)chaos_between(&c->rng, NODE_DRAINING, NODE_CLOSED);
        undo.state = NODE_UP;
        i.at += GRID / 2 + 1 + i.subject;
        undo.at += GRID / 2 + 1 + i.subject;
        VEC_PUSH(&c->incidents, undo);
        break;
    case CAPACITY:
        i.subject = undo.subject = (uint32_t)rng_below(&c->rng, c->cluster.n + 1);
        i.has = draw_capacity(c, i.subject, true);
        undo.has = draw_capacity(c, i.subject, false);
        i.at += GRID / 4 + 1 + i.subject;
        undo.at += GRID / 4 + 1 + i.subject;
        VEC_PUSH(&c->incidents, undo);
        break;
    case HOLD:
        undo.kind = RELEASE;
        VEC_PUSH(&c->incidents, undo);
        break;
    case CHANGE:
        i.job = draw_change(c, &c->jobs[i.subject]);
        break;
    default:
        break;
    }
    VEC_PUSH(&c->incidents, i);
}

static int by_time(const void *a, const void *b)
{
    const struct incident *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->subject != y->subject)
        return x->subject < y->subject ? -1 : 1;
    return x->kind != y->kind ? (int)x->kind - (int)y->kind : (int)x->state - (int)y->state;
}

static void draw_world(struct chaos *c)
{
    uint32_t n = c->o->jobs;
    rng_init(&c->rng, c->o->seed);
    chaos_cluster(&c->rng, &c->arena, &c->cluster);
    c->jobs = chaos_jobs(&c->rng, &c->arena, &c->cluster, n);
    for (uint32_t i = 0; c->o->alone && i < n; i++)
        c->jobs[i].sharing = NULL;
    usec_t until = c->jobs[n - 1].submit + 60 * GRID;
    for (uint32_t i = 0; i < n / 2; i++)
        add_incident(c, until);
    if (c->o->policy2)
        VEC_PUSH(&c->incidents, (struct incident){.at = until / 2 / GRID * GRID, .kind = POLICY});
    qsort(c->incidents.at, c->incidents.n, sizeof *c->incidents.at, by_time);
    c->task_of = ARENA_ARRAY(&c->arena, n, uint32_t);
    c->stops_at = ARENA_ARRAY(&c->arena, n, usec_t);
    c->busy = ARENA_ARRAY(&c->arena, n, bool);
    c->shares = ARENA_ARRAY(&c->arena, n, struct cpu_told);
    for (uint32_t i = 0; i < n; i++) {
        c->task_of[i] = TASK_NONE;
        c->stops_at[i] = USEC_NEVER;
    }
}

/* Notes preemptions that take their time; how long depends on the job alone. */
static void follow_stops(struct chaos *c)
{
    for (size_t i = 0; i < c->e.effects.n; i++) {
        const struct effect *f = &c->e.effects.at[i];
        const struct task *t = &c->e.tasks[f->task];
        if (f->kind != EFFECT_PREEMPT || t->phase != TASK_STOPPING)
            continue;
        usec_t delay = (usec_t)(rng_mix(c->o->seed ^ t->job->id ^ t->preemptions << 20) % 4);
        c->stops_at[t->job->id] = delay ? (c->now / (GRID / 2) + delay) * (GRID / 2) : c->now;
    }
}

static bool step(struct chaos *c, const struct event *v)
{
    struct err err = {0};
    c->out->steps++;
    if (engine_step(&c->e, v, c->now, &err) < 0) {
        if (v->kind == EVENT_SUBMIT && err.code == ERR_LIMIT)
            return true;
        if (v->kind == EVENT_JOB && (err.code == ERR_LIMIT || err.code == ERR_CONFLICT))
            return true;
        return fail(c, err.text);
    }
    if (c->o->observe)
        c->o->observe(c->o->ctx, &c->e, v, c->now);
    if (v->kind == EVENT_SUBMIT)
        c->task_of[v->job->id] = c->e.submitted;
    effects_add_but_shares(&c->out->effects, &c->e, c->now);
    if (!audit_step(&c->audit, &c->e, c->now))
        return fail(c, c->audit.why);
    follow_stops(c);
    return true;
}

static void gather(struct chaos *c, uint32_t job, struct event v)
{
    if (c->busy[job] || (v.kind != EVENT_SUBMIT && c->task_of[job] == TASK_NONE))
        return;
    c->busy[job] = true;
    v.task = c->task_of[job];
    VEC_PUSH(&c->events, v);
}

/* Whether what is held before this instant would fit. */
static bool could_have(const struct chaos *c, const struct incident *i)
{
    const struct node *n = i->subject < c->e.cluster.n ? &c->e.cluster.nodes[i->subject] : NULL;
    return !n || (i->has->cpus >= n->cpu_held && i->has->gpus >= n->gpu_held);
}

static void gather_incident(struct chaos *c, const struct incident *i)
{
    if (i->kind == NODE) {
        /* Of two for one node the first in the order counts: that it comes up. */
        if (c->events.n == 0 || c->events.at[c->events.n - 1].kind != EVENT_NODE)
            VEC_PUSH(&c->events,
                     (struct event){.kind = EVENT_NODE, .node = i->subject, .state = i->state});
        return;
    }
    if (i->kind == CAPACITY) {
        if (c->events.n == 0 && could_have(c, i))
            VEC_PUSH(&c->events,
                     (struct event){.kind = EVENT_CAPACITY, .node = i->subject, .has = i->has});
        return;
    }
    if (i->kind == POLICY) {
        VEC_PUSH(&c->events, (struct event){.kind = EVENT_POLICY, .combo = &c->combo2});
        return;
    }
    if (c->task_of[i->subject] == TASK_NONE)
        return;
    const struct task *t = &c->e.tasks[c->task_of[i->subject]];
    bool waits = t->phase == TASK_QUEUED || (t->phase == TASK_PAUSED && !t->job->no_restart);
    if (i->kind == HOLD && waits)
        gather(c, i->subject, (struct event){.kind = EVENT_HOLD});
    else if (i->kind == RELEASE && (t->phase == TASK_HELD || t->hold))
        gather(c, i->subject, (struct event){.kind = EVENT_RELEASE});
    else if (i->kind == CANCEL)
        gather(c, i->subject, (struct event){.kind = EVENT_END});
    else if (i->kind == FAIL && (t->phase == TASK_RUNNING || t->phase == TASK_RIDING))
        gather(c, i->subject, (struct event){.kind = EVENT_FAILED});
    else if (i->kind == CHANGE)
        gather(c, i->subject, (struct event){.kind = EVENT_JOB, .job = i->job});
    else if (i->kind == ESTIMATE)
        gather(c, i->subject,
               (struct event){.kind = EVENT_PROGRESS,
                              .work = t->job->work * i->factor,
                              .done = task_done(t, c->now)});
}

/* All that happens at this instant. */
static void gather_all(struct chaos *c)
{
    c->events.n = 0;
    memset(c->busy, 0, c->o->jobs * sizeof *c->busy);
    for (; c->next_incident < c->incidents.n; c->next_incident++) {
        const struct incident *i = &c->incidents.at[c->next_incident];
        if (i->at > c->now)
            break;
        gather_incident(c, i);
    }
    for (uint32_t i = 0; i < c->o->jobs; i++) {
        if (c->task_of[i] == TASK_NONE)
            continue;
        const struct task *t = &c->e.tasks[c->task_of[i]];
        if (t->phase == TASK_RUNNING && task_end(t, c->now) <= c->now)
            gather(c, i, (struct event){.kind = EVENT_END});
        else if (t->phase == TASK_STOPPING && c->stops_at[i] <= c->now)
            gather(c, i, (struct event){.kind = EVENT_STOPPED});
    }
    for (; c->arrived < c->o->jobs && c->jobs[c->arrived].submit <= c->now; c->arrived++)
        gather(c, c->arrived, (struct event){.kind = EVENT_SUBMIT, .job = &c->jobs[c->arrived]});
}

static bool end_job(struct chaos *c, uint32_t job)
{
    if (!step(c, &(struct event){.kind = EVENT_END, .task = c->task_of[job]}))
        return false;
    c->task_of[job] = TASK_NONE;
    c->out->ended++;
    return true;
}

/* Whether the job is frozen on a node that is too small for it now. */
static bool is_shut_in(const struct chaos *c, const struct task *t)
{
    return t->phase == TASK_PAUSED && t->job->no_restart &&
           task_asked(t) > c->e.cluster.nodes[t->at.at[0].node].cpus;
}

/* Ends jobs that the nodes cannot hold any more: they would wait for ever. */
static bool end_too_large(struct chaos *c)
{
    struct err err;
    for (uint32_t i = 0; i < c->o->jobs; i++) {
        const struct task *t = c->task_of[i] == TASK_NONE ? NULL : &c->e.tasks[c->task_of[i]];
        if (t && (cluster_can_hold(&c->e.cluster, t->job, &err) < 0 || is_shut_in(c, t)) &&
            !end_job(c, i))
            return false;
    }
    return true;
}

static bool feed_all(struct chaos *c)
{
    size_t n = c->events.n;
    for (size_t i = 0; i < n; i++) {
        struct event v = c->events.at[c->o->backwards ? n - 1 - i : i];
        bool fed = v.kind == EVENT_END ? end_job(c, c->e.tasks[v.task].job->id) : step(c, &v);
        bool sized = v.kind == EVENT_CAPACITY || v.kind == EVENT_JOB;
        if (!fed || (sized && !end_too_large(c)))
            return false;
    }
    return true;
}

static bool sample(struct chaos *c)
{
    for (size_t i = 0; i < c->e.running.n; i++) {
        const struct task *t = &c->e.tasks[c->e.running.at[i]];
        double share = t->work > 0 ? fmin(task_done(t, c->now) / t->work, 1) : 1;
        struct sample s = {.at = c->now,
                           .step = share,
                           .metric = loss_at(&t->job->loss, share),
                           .cpu_time = task_cpu_time(t, c->now)};
        if (!step(c,
                  &(struct event){.kind = EVENT_SAMPLE, .task = c->e.running.at[i], .sample = &s}))
            return false;
    }
    return true;
}

static bool tick(struct chaos *c)
{
    if (engine_due(&c->e) > c->now)
        return true;
    if (c->metrics && !sample(c))
        return false;
    if (!step(c, &(struct event){.kind = EVENT_TICK}))
        return false;
    c->idle = c->e.effects.n == 0 && c->e.running.n == 0 ? c->idle + 1 : 0;
    return true;
}

static usec_t next_instant(const struct chaos *c)
{
    usec_t next = engine_due(&c->e);
    for (uint32_t i = 0; i < c->o->jobs; i++) {
        const struct task *t = c->task_of[i] == TASK_NONE ? NULL : &c->e.tasks[c->task_of[i]];
        usec_t at = USEC_NEVER;
        if (t && t->phase == TASK_RUNNING)
            at = task_end(t, c->now);
        else if (t && t->phase == TASK_STOPPING)
            at = c->stops_at[i];
        next = at < next ? at : next;
    }
    if (c->next_incident < c->incidents.n && c->incidents.at[c->next_incident].at < next)
        next = c->incidents.at[c->next_incident].at;
    if (c->arrived < c->o->jobs && c->jobs[c->arrived].submit < next)
        next = c->jobs[c->arrived].submit;
    return next > c->now ? next : c->now;
}

static bool is_over(const struct chaos *c)
{
    for (uint32_t i = 0; i < c->o->jobs; i++)
        if (c->task_of[i] != TASK_NONE)
            return false;
    return c->arrived == c->o->jobs && c->next_incident == c->incidents.n;
}

static bool stuck(struct chaos *c)
{
    for (uint32_t i = 0; i < c->o->jobs; i++)
        if (c->task_of[i] != TASK_NONE) {
            char text[96];
            snprintf(text, sizeof text, "job j%u never ends, phase %d", i,
                     c->e.tasks[c->task_of[i]].phase);
            return fail(c, text);
        }
    return fail(c, "nothing will happen any more");
}

/* What changes of shares come to at an instant. Steps in between depend on the order. */
static void add_shares(struct chaos *c)
{
    for (uint32_t i = 0; i < c->o->jobs; i++) {
        const struct task *t = c->task_of[i] == TASK_NONE ? NULL : &c->e.tasks[c->task_of[i]];
        struct cpu_told *last = &c->shares[i];
        if (!t || t->phase != TASK_RUNNING || t->pool != POOL_CPU)
            continue;
        if (last->limit == t->told.limit && last->weight == t->told.weight &&
            last->share == t->told.share)
            continue;
        *last = t->told;
        effects_add_share(&c->out->effects, t, c->now);
    }
}

static bool run(struct chaos *c)
{
    while (!is_over(c)) {
        usec_t next = next_instant(c);
        if (next == USEC_NEVER || c->idle > IDLE_MAX || c->out->steps > STEPS_MAX)
            return stuck(c);
        c->now = next;
        gather_all(c);
        if (!feed_all(c) || !tick(c))
            return false;
        add_shares(c);
    }
    return true;
}

bool chaos_run(const struct chaos_options *o, struct chaos_result *out)
{
    static const usec_t distances[] = {0, 0, GRID / 4, 3 * GRID};
    struct chaos c = {.o = o, .out = out};
    struct err err;
    *out = (struct chaos_result){0};
    str_add(&out->effects, "");
    if (combo_parse(o->policy, &c.combo, &err) < 0 ||
        (o->policy2 && combo_parse(o->policy2, &c.combo2, &err) < 0))
        return fail(&c, err.text);
    c.metrics = combo_needs_samples(&c.combo) || (o->policy2 && combo_needs_samples(&c.combo2));
    draw_world(&c);
    struct engine_config config = {.combo = c.combo,
                                   .seed = o->seed,
                                   .resched_min = distances[rng_mix(o->seed) % 4],
                                   .min_run = rng_mix(o->seed + 2) % 3 ? 0 : 5 * GRID,
                                   .explain = o->explain,
                                   .instant = !o->slow_stops,
                                   .interference = rng_mix(o->seed + 1) % 4 ? 0 : 0.3};
    engine_init(&c.e, &config, &c.cluster);
    if (o->observe)
        o->observe(o->ctx, &c.e, NULL, 0);
    bool good = run(&c);
    out->decisions = c.e.decisions;
    engine_done(&c.e);
    audit_done(&c.audit);
    arena_done(&c.arena);
    VEC_DONE(&c.incidents);
    VEC_DONE(&c.events);
    return good;
}

void chaos_done(struct chaos_result *r)
{
    str_done(&r->effects);
}
