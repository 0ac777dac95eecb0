/* Owns the simulation: discrete events in integer microseconds. All events of
 * one instant are fed to the engine before it decides: ends first, then nodes,
 * then arrivals, each by id, so that the same input gives the same result. */
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>

#include "advisor/chooser.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/rng.h"
#include "engine/drive.h"
#include "sim/bound.h"
#include "sim/estimates.h"
#include "sim/fairness.h"
#include "sim/node_recorder.h"
#include "sim/peer.h"
#include "sim/recorder.h"

struct sim {
    const struct sim_options *o;
    struct engine engine;
    struct sim_result *r;
    struct recorder recorder;
    struct node_recorder node_recorder; /* only with o->record */
    struct peer peer;
    struct rounds rounds; /* under RULES_POLLUX and RULES_SIA */
    struct drive drive;   /* the clock, and predicted ends */
    struct heap failures; /* next failure or repair, by node */
    struct rng rng;
    struct chooser chooser; /* of the policy auto */
    struct estimates estimates;
    struct presence presence;
    struct presence *came;  /* by job: when it arrived */
    uint32_t arrived, over; /* jobs of the trace; those that left or never came in */
    uint32_t fruitless;     /* failures since a job last ended */
    double unit_seconds;    /* held, or used, by the jobs that are done */
    VEC(float) decision_us;
};

/* When nodes fail so often that no job ever ends between checkpoints, it stops. */
enum { FRUITLESS_FAILURES = 1000000 };

static bool in_rounds(const struct sim *m)
{
    return m->o->rules == RULES_POLLUX || m->o->rules == RULES_SIA;
}

/* Counts and records what the last step did. */
static void follow(struct sim *m)
{
    const struct engine *e = &m->engine;
    if (m->o->record)
        recorder_follow(&m->recorder, e, m->drive.now);
    if (m->o->observe)
        m->o->observe(m->o->ctx, e, m->drive.now);
    for (size_t i = 0; i < e->effects.n; i++) {
        enum effect_kind kind = e->effects.at[i].kind;
        m->r->starts += kind == EFFECT_START;
        m->r->preemptions += kind == EFFECT_PREEMPT || kind == EFFECT_PAUSE;
        m->r->migrations += kind == EFFECT_MOVE;
        m->r->resizes += kind == EFFECT_RESIZE;
    }
}

static int step(struct sim *m, struct event event, struct err *err)
{
    int rc = drive_step(&m->drive, &event, err);
    if (rc == 0)
        follow(m);
    return rc;
}

static void keep_row(struct sim_job *row, const struct task *t, usec_t now)
{
    row->start = t->started_at;
    row->wait = task_wait_time(t, now);
    row->run = task_run_time(t, now);
    row->starts = t->starts;
    row->preemptions = t->preemptions;
    row->moves = t->moves;
    row->resizes = t->resizes;
    row->failures = t->failures;
    row->held_s = task_attained(t, now) / (double)USEC_PER_SEC;
    row->busy_s = task_cpu_time(t, now) / (double)USEC_PER_SEC;
}

static int end_tasks(struct sim *m, struct err *err)
{
    uint32_t task;
    usec_t end; /* before now only where a peer's rules delay its notice */
    while (drive_take_ended(&m->drive, &task, &end)) {
        const struct task *t = &m->engine.tasks[task];
        bool soft = m->o->combo.policy[AXIS_SHARE]->soft && t->pool == POOL_CPU;
        m->unit_seconds +=
            (soft ? task_cpu_time(t, end) : task_attained(t, end)) / (double)USEC_PER_SEC;
        struct sim_job *row = &m->r->job[t->job->id];
        keep_row(row, t, end);
        row->outcome = SIM_DONE;
        row->end = end;
        double jobs = presence_mean(&m->came[t->job->id], &m->presence);
        row->fair_s = fairness_equal_share(&m->o->trace->jobs[t->job->id], m->o->cluster, jobs);
        m->over++;
        m->fruitless = 0;
        estimates_end(&m->estimates, t);
        if (step(m, (struct event){.kind = EVENT_END, .task = task}, err) < 0)
            return -1;
    }
    return 0;
}

static int submit_jobs(struct sim *m, struct err *err)
{
    const struct trace *trace = m->o->trace;
    for (; m->arrived < trace->n && trace->jobs[m->arrived].submit <= m->drive.now; m->arrived++) {
        const struct job *job = &trace->jobs[m->arrived];
        m->came[m->arrived] = m->presence;
        if (step(m, (struct event){.kind = EVENT_SUBMIT, .job = job}, err) == 0) {
            if (in_rounds(m) && rounds_submit(&m->rounds, &m->drive, m->engine.submitted, err) < 0)
                return -1;
            if (estimates_submit(&m->estimates, &m->drive, m->engine.submitted, err) < 0)
                return -1;
            continue;
        }
        if (err->code != ERR_LIMIT)
            return -1;
        if (!*m->r->never_why)
            snprintf(m->r->never_why, sizeof m->r->never_why, "%s", err->text);
        m->r->job[job->id].outcome = SIM_NEVER;
        m->over++;
    }
    return 0;
}

static void schedule_failure(struct sim *m, uint32_t node, usec_t now)
{
    double gap = rng_exponential(&m->rng, (double)m->o->mtbf);
    heap_set(&m->failures, node, now + 1 + (usec_t)fmin(gap, (double)USEC_LIMIT / 2));
}

static int fail_nodes(struct sim *m, struct err *err)
{
    usec_t now = m->drive.now;
    while (m->failures.n && heap_top(&m->failures).key <= now) {
        uint32_t node = heap_pop(&m->failures).id;
        bool down = m->engine.cluster.nodes[node].state == NODE_UP;
        m->r->failures += down;
        m->fruitless += down;
        if (down)
            heap_set(&m->failures, node, now + m->o->repair);
        else
            schedule_failure(m, node, now);
        struct event event = {
            .kind = EVENT_NODE, .node = node, .state = down ? NODE_DOWN : NODE_UP};
        if (step(m, event, err) < 0)
            return -1;
    }
    return 0;
}

/* What a monitor would see of a running job at this instant. */
static int sample_task(struct sim *m, uint32_t task, struct err *err)
{
    const struct task *t = &m->engine.tasks[task];
    usec_t now = m->drive.now;
    double share = t->work > 0 ? task_done(t, now) / t->work : 1;
    struct sample sample = {
        .at = now,
        .step = share,
        .metric = t->job->loss.kind == LOSS_NONE ? NAN : loss_at(&t->job->loss, share),
        .units = (double)t->n / UNIT,
        .cpu_time = task_cpu_time(t, now),
        .memory_mb = (double)t->job->memory_mb,
    };
    return step(m, (struct event){.kind = EVENT_SAMPLE, .task = task, .sample = &sample}, err);
}

static int sample_running(struct sim *m, struct err *err)
{
    for (size_t i = 0; i < m->engine.running.n; i++)
        if (sample_task(m, m->engine.running.at[i], err) < 0)
            return -1;
    return 0;
}

/* Lets auto choose another allocator, by what the engine knows of its tasks. */
static int choose_policy(struct sim *m, struct err *err)
{
    struct choice choice;
    if (chooser_due(&m->chooser, &m->engine) > m->drive.now)
        return 0;
    chooser_begin(&m->chooser, &m->engine, m->drive.now);
    while (chooser_work(&m->chooser))
        continue;
    if (!chooser_end(&m->chooser, &choice))
        return 0;
    m->r->choices++;
    return step(m, (struct event){.kind = EVENT_POLICY, .combo = &choice.combo}, err);
}

static int tick(struct sim *m, struct err *err)
{
    bool samples = combo_needs_samples(&m->o->combo);
    usec_t now = m->drive.now;
    if (peer_before(&m->peer, &m->engine, now, err) < 0)
        return -1;
    if (samples && sample_running(m, err) < 0)
        return -1;
    if (estimates_look(&m->estimates, &m->drive, err) < 0)
        return -1;
    double before = clock_read_precise();
    if (choose_policy(m, err) < 0)
        return -1;
    if (drive_tick(&m->drive, err) < 0)
        return -1;
    VEC_PUSH(&m->decision_us, (float)(clock_read_precise() - before));
    follow(m);
    if (peer_after(&m->peer, &m->engine, now, err) < 0)
        return -1;
    if (in_rounds(m))
        rounds_follow(&m->rounds, &m->engine);
    for (uint32_t i = m->peer.active ? m->engine.snapshot.first : TASK_NONE; i != TASK_NONE;
         i = m->engine.links[i].next)
        drive_predict(&m->drive, i);
    /* Tasks that started show their first value at once. */
    return samples ? sample_running(m, err) : 0;
}

/* The next instant at which anything happens; USEC_NEVER when nothing will. */
static usec_t next_instant(const struct sim *m)
{
    const struct trace *trace = m->o->trace;
    usec_t arrival = m->arrived < trace->n ? trace->jobs[m->arrived].submit : USEC_NEVER;
    if (in_rounds(m))
        return rounds_next(&m->rounds, &m->engine, arrival);
    usec_t next = drive_next(&m->drive);
    if (arrival < next)
        next = arrival;
    if (m->failures.n && heap_top(&m->failures).key < next)
        next = heap_top(&m->failures).key;
    return peer_hold(&m->peer, &m->engine, next);
}

static int run(struct sim *m, struct err *err)
{
    uint32_t n = m->o->trace->n;
    uint64_t steps = 0;
    while (m->over < n) {
        usec_t now = next_instant(m);
        if (now == USEC_NEVER || m->fruitless > FRUITLESS_FAILURES) {
            m->r->stop = now == USEC_NEVER ? STOP_STILL : STOP_FAILURES;
            break;
        }
        presence_advance(&m->presence, m->engine.snapshot.active, now);
        m->drive.now = now;
        if (in_rounds(m) && rounds_train(&m->rounds, &m->drive, err) < 0)
            return -1;
        if (end_tasks(m, err) < 0 || fail_nodes(m, err) < 0 || submit_jobs(m, err) < 0)
            return -1;
        if (drive_is_due(&m->drive) && m->over < n && tick(m, err) < 0)
            return -1;
        if (m->o->record) {
            recorder_sample(&m->recorder, &m->engine, now);
            node_recorder_sample(&m->node_recorder, &m->engine, now);
        }
        if (m->o->progress && steps++ % 256 == 0)
            m->o->progress(m->o->ctx, (double)m->over / n);
    }
    return 0;
}

/* What became of the jobs that are not over until then. */
static void keep_unfinished(struct sim *m)
{
    const struct snapshot *s = engine_snapshot(&m->engine, m->drive.now);
    SNAPSHOT_EACH (s, i)
        keep_row(&m->r->job[s->tasks[i].job->id], &s->tasks[i], m->drive.now);
}

static void init_rows(struct sim *m)
{
    const struct trace *trace = m->o->trace;
    m->r->jobs = trace->n;
    m->r->job = xcalloc(trace->n, sizeof *m->r->job);
    m->came = xcalloc(trace->n, sizeof *m->came);
    for (uint32_t i = 0; i < trace->n; i++)
        m->r->job[i] = (struct sim_job){.job = &trace->jobs[i],
                                        .outcome = SIM_UNFINISHED,
                                        .fair_s = NAN,
                                        .start = USEC_NEVER,
                                        .end = USEC_NEVER};
}

/* Units that the trace's jobs could use. */
static double capacity(const struct sim_options *o)
{
    bool wanted[POOLS_MAX] = {0};
    double sum = 0;
    for (uint32_t i = 0; i < o->trace->n; i++)
        for (unsigned p = 0; p < POOLS_MAX; p++)
            wanted[p] |= job_takes_pool(&o->trace->jobs[i], p);
    for (unsigned p = 0; p < cluster_pools(o->cluster); p++)
        if (wanted[p])
            sum += (double)cluster_size(o->cluster, p, false) / UNIT;
    return sum;
}

/* Of the CPUs that jobs were granted; a soft sharer only reserves them. */
static double allocated_used(const struct sim_options *o, const struct sim_result *r)
{
    double held = 0, busy = 0;
    for (uint32_t i = 0; i < r->jobs; i++)
        if (r->job[i].job->pool == POOL_CPU) {
            held += r->job[i].held_s;
            busy += r->job[i].busy_s;
        }
    return held > 0 && !o->combo.policy[AXIS_SHARE]->soft ? busy / held : NAN;
}

static usec_t first_submission(const struct trace *t)
{
    return t->n ? t->jobs[0].submit : 0;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Percentiles of the decisions' times, by nearest rank. */
static void keep_timing(struct sim *m, double started_us)
{
    size_t n = m->decision_us.n;
    float *us = m->decision_us.at;
    m->r->wall_s = (clock_read_precise() - started_us) / 1e6;
    if (!n)
        return;
    qsort(us, n, sizeof *us, compare_floats);
    m->r->decision_p50_us = us[(n - 1) / 2];
    m->r->decision_p99_us = us[(n * 99 + 99) / 100 - 1];
    m->r->decision_max_us = us[n - 1];
}

int sim_run(const struct sim_options *o, struct sim_result *out, struct err *err)
{
    double wall = clock_read_precise();
    struct sim_result result = {0};
    struct sim m = {.o = o, .r = &result};
    struct engine_config config = {
        .combo = o->combo,
        .rules = o->rules,
        .seed = o->seed,
        .resched_min = o->resched_min,
        .min_run = o->min_run,
        .instant = true,
        .interference = o->interference,
    };
    memcpy(result.policy, o->combo.name, sizeof result.policy);
    init_rows(&m);
    engine_init(&m.engine, &config, o->cluster);
    drive_init(&m.drive, &m.engine, 0);
    recorder_init(&m.recorder, &result);
    if (o->record)
        node_recorder_init(&m.node_recorder, o->cluster, &result);
    peer_init(&m.peer, o->rules, &o->combo);
    rounds_init(&m.rounds, &o->rounds, in_rounds(&m) ? o->trace->n : 0);
    estimates_init(&m.estimates, o->estimates, o->seed, o->rounds.size_error, o->trace->n);
    m.drive.work = m.estimates.work;
    m.drive.told = in_rounds(&m);
    m.drive.end_grain = o->rules == RULES_ELASTICFLOW ? PEER_END_GRAIN : 0;
    rng_init(&m.rng, o->seed);
    for (uint32_t i = 0; o->mtbf > 0 && i < o->cluster->n; i++)
        schedule_failure(&m, i, 0);
    int rc = run(&m, err);
    if (rc == 0)
        keep_unfinished(&m);
    result.decisions = m.engine.decisions;
    recorder_done(&m.recorder);
    if (o->record)
        node_recorder_summarise(&m.node_recorder, o->cluster, first_submission(o->trace),
                                m.drive.now);
    node_recorder_done(&m.node_recorder);
    peer_done(&m.peer);
    rounds_done(&m.rounds);
    free(m.came);
    engine_done(&m.engine);
    drive_done(&m.drive);
    heap_done(&m.failures);
    chooser_done(&m.chooser);
    estimates_done(&m.estimates);
    result_summarise(&result);
    result.bound_jct_s = bound_mean_jct(o->trace, o->cluster);
    result.bound_makespan_s = bound_makespan(o->trace, o->cluster);
    result.utilization = m.unit_seconds / (capacity(o) * result.makespan_s);
    result.allocated_used = allocated_used(o, &result);
    result.energy_wh = NAN;
    if (o->power)
        power_apply(o->power, o->cluster->n, &result);
    keep_timing(&m, wall);
    VEC_DONE(&m.decision_us);
    if (rc < 0)
        result_done(&result);
    else
        *out = result;
    return rc;
}
