/* Owns the workload of a journal. An engine is driven through the recorded events; the work of a
 * job is what it had done when it ended. A job that had not ended counts with what it had done
 * by then, so that it holds what it held, but it is left out of the figures. Jobs that were
 * submitted again are one job. */
#include "journal/recorded.h"

#include <inttypes.h>
#include <math.h>

#include "base/idmap.h"
#include "engine/drive.h"
#include "journal/read.h"
#include "store/journal.h"

struct recorded_job {
    const struct job *job; /* its last terms */
    usec_t arrived;        /* when the engine was told of it */
    usec_t ended;          /* USEC_NEVER = not while recording */
    double before;         /* work done by then */
    double work;
};

/* A node came, changed its capacity, or changed its state. */
struct node_change {
    usec_t at;
    bool is_state;
    enum node_state state;
    struct capacity has; /* its name is set in any case */
};

struct recorded {
    struct arena arena;
    struct engine_config config;
    struct cluster cluster; /* at the beginning */
    bool begun;
    usec_t first;
    VEC(struct recorded_job *) jobs; /* by arrival */
    struct idmap by_id;
    VEC(struct node_change) changes;
    uint32_t preemptions, moves, resizes;
};

/* State while reading a journal. */
struct reading {
    struct recorded *r;
    int64_t boot;
    bool begun; /* there is an engine for this stretch */
    bool fresh; /* a later engine that has received no event yet */
    struct engine e;
    usec_t now;
    struct arena row;
};

/* ---- nodes --------------------------------------------------------------------- */

static struct capacity capacity_of(const struct cluster *c, const struct node *n)
{
    return (struct capacity){
        .name = n->name,
        .cpus = n->cpus,
        .gpus = n->gpus,
        .gpu_type = n->gpus ? c->gpu_types[n->gpu_pool - POOL_GPU] : NULL,
        .memory_mb = n->memory_mb,
        .memory_used = n->memory_used,
        .devices = n->devices,
    };
}

static void note_change(struct recorded *r, usec_t at, const struct cluster *c, uint32_t node,
                        bool is_state)
{
    struct capacity has = capacity_of(c, &c->nodes[node]);
    has.name = arena_strdup(&r->arena, has.name);
    has.gpu_type = has.gpu_type ? arena_strdup(&r->arena, has.gpu_type) : NULL;
    VEC_PUSH(&r->changes, (struct node_change){at, is_state, c->nodes[node].state, has});
}

static uint32_t find_node(const struct cluster *c, const char *name)
{
    uint32_t i = 0;
    while (i < c->n && strcmp(c->nodes[i].name, name) != 0)
        i++;
    return i;
}

/* ---- jobs ---------------------------------------------------------------------- */

static struct recorded_job *job_of(const struct recorded *r, uint32_t id)
{
    return idmap_get(&r->by_id, id);
}

static void note_arrival(struct recorded *r, const struct job *job, usec_t now, double before)
{
    struct recorded_job *j = job_of(r, job->id);
    if (!j) {
        j = ARENA_NEW(&r->arena, struct recorded_job);
        *j = (struct recorded_job){.arrived = now, .before = before};
        idmap_set(&r->by_id, job->id, j);
        VEC_PUSH(&r->jobs, j);
        r->first = r->jobs.n == 1 ? now : r->first;
    }
    j->job = job;
    j->ended = USEC_NEVER;
}

static void note_end(struct recorded *r, const struct task *t, usec_t now)
{
    struct recorded_job *j = job_of(r, t->job->id);
    if (!j)
        return; /* a row has assigned another number */
    j->ended = now;
    j->work += fmax(task_done(t, now) - j->before, 0);
    j->before = 0;
}

/* Records what unfinished jobs had done by then. */
static void note_unfinished(const struct reading *g)
{
    for (uint32_t i = 0; g->begun && i < g->e.tasks_n; i++) {
        const struct task *t = &g->e.tasks[i];
        struct recorded_job *j = t->job ? job_of(g->r, t->job->id) : NULL;
        if (j && j->ended == USEC_NEVER)
            j->work += fmax(task_done(t, g->now) - j->before, 0);
    }
}

static void count_effects(const struct engine *e, uint32_t *preemptions, uint32_t *moves,
                          uint32_t *resizes)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        enum effect_kind kind = e->effects.at[i].kind;
        *preemptions += kind == EFFECT_PREEMPT || kind == EFFECT_PAUSE;
        *moves += kind == EFFECT_MOVE;
        *resizes += kind == EFFECT_RESIZE;
    }
}

/* ---- reading ------------------------------------------------------------------- */

static void leave_boot(struct reading *g)
{
    if (g->begun)
        engine_done(&g->e);
    g->begun = false;
}

/* The first stretch has the initial nodes. Later ones may have others. */
static int enter_boot(struct reading *g, const char *data, struct err *err)
{
    struct recorded *r = g->r;
    struct engine_config config;
    struct cluster cluster;
    if (journal_read_boot(data, &r->arena, &config, &cluster, err) < 0)
        return -1;
    engine_init(&g->e, &config, &cluster);
    g->begun = true;
    g->fresh = r->begun;
    if (!r->begun)
        r->cluster = cluster;
    r->begun = true;
    r->config = config;
    return 0;
}

/* Extracts what an accepted event says about the workload. */
static void note_event(struct reading *g, const struct event *v, usec_t now)
{
    struct recorded *r = g->r;
    struct recorded_job *j;
    switch (v->kind) {
    case EVENT_SUBMIT:
        note_arrival(r, v->job, now, 0);
        break;
    case EVENT_RESTORE:
        note_arrival(r, v->job, now, v->was->done);
        break;
    case EVENT_JOB:
        j = job_of(r, v->job->id);
        if (j)
            j->job = v->job;
        break;
    case EVENT_NODE:
    case EVENT_CAPACITY:
        note_change(r, now, &g->e.cluster, v->node, v->kind == EVENT_NODE);
        break;
    case EVENT_POLICY:
        r->config.combo = *v->combo;
        break;
    case EVENT_TICK:
        count_effects(&g->e, &r->preemptions, &r->moves, &r->resizes);
        break;
    default:
        break;
    }
}

static int take_event(struct reading *g, const char *data, struct err *err)
{
    struct event event;
    usec_t now;
    arena_reset(&g->row);
    if (journal_read_event(data, &g->r->arena, &g->row, &event, &now, err) < 0)
        return -1;
    for (uint32_t i = 0; g->fresh && i < g->e.cluster.n; i++) {
        note_change(g->r, now, &g->e.cluster, i, false);
        note_change(g->r, now, &g->e.cluster, i, true);
    }
    g->fresh = false;
    bool ends = event.kind == EVENT_END && event.task < g->e.tasks_n && g->e.tasks[event.task].job;
    if (ends)
        note_end(g->r, &g->e.tasks[event.task], now);
    if (engine_step(&g->e, &event, now, err) < 0)
        return err_prefix(err, "the engine refuses it");
    g->now = now;
    note_event(g, &event, now);
    return 0;
}

/* Rows before the first beginning were partly trimmed, and plans follow from events. */
static int take_row(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                    struct err *err)
{
    struct reading *g = ctx;
    int rc = 0;
    if (boot != g->boot)
        leave_boot(g);
    g->boot = boot;
    if (!strcmp(kind, "boot") && !g->begun)
        rc = enter_boot(g, data, err);
    else if (!strcmp(kind, "event") && g->begun)
        rc = take_event(g, data, err);
    if (rc < 0 && err)
        err->code = ERR_IO;
    return rc < 0 ? err_prefix(err, "journal, row %" PRId64, seq) : 0;
}

int recorded_read(struct store *s, int64_t boot, struct recorded **out, struct err *err)
{
    struct recorded *r = xcalloc(1, sizeof *r);
    struct reading g = {.r = r};
    int rc = store_journal_list(s, boot, take_row, &g, err);
    if (rc == 0 && !r->begun)
        rc = err_set(err, ERR_NOT_FOUND, "the journal has no row to start from");
    if (rc == 0)
        note_unfinished(&g);
    leave_boot(&g);
    arena_done(&g.row);
    if (rc < 0)
        recorded_free(r);
    else
        *out = r;
    return rc;
}

void recorded_free(struct recorded *r)
{
    VEC_DONE(&r->jobs);
    VEC_DONE(&r->changes);
    idmap_done(&r->by_id);
    arena_done(&r->arena);
    free(r);
}

const struct combo *recorded_policy(const struct recorded *r)
{
    return &r->config.combo;
}

/* ---- figures ------------------------------------------------------------------- */

/* Jobs that were cancelled before they ran say nothing. */
static bool counts(const struct recorded_job *j)
{
    return j->ended != USEC_NEVER && j->work > 0;
}

/* The ends of the jobs; NULL = as recorded. */
static struct recorded_figures sum_up(const struct recorded *r, const usec_t *ends)
{
    struct recorded_figures f = {.mean_s = NAN};
    double sum = 0;
    usec_t last = r->first;
    for (size_t i = 0; i < r->jobs.n; i++) {
        const struct recorded_job *j = r->jobs.at[i];
        usec_t end = ends ? ends[i] : j->ended;
        if (!counts(j))
            continue;
        f.jobs++;
        f.missed += j->job->deadline != USEC_NEVER && end > j->job->deadline;
        if (end == USEC_NEVER) {
            f.unfinished++;
            continue;
        }
        sum += time_seconds(end - j->job->submit);
        last = end > last ? end : last;
    }
    if (f.jobs > f.unfinished)
        f.mean_s = sum / (f.jobs - f.unfinished);
    f.makespan_s = time_seconds(last - r->first);
    return f;
}

struct recorded_figures recorded_figures(const struct recorded *r)
{
    struct recorded_figures f = sum_up(r, NULL);
    f.preemptions = r->preemptions;
    f.moves = r->moves;
    f.resizes = r->resizes;
    return f;
}

/* ---- another policy ------------------------------------------------------------ */

struct trial {
    const struct recorded *r;
    struct arena arena;
    struct engine e;
    struct drive drive;
    size_t arrivals, changes; /* that have happened */
    VEC(uint32_t) job_of;     /* by task */
    usec_t *ends;
    struct recorded_figures f;
};

static usec_t next_instant(const struct trial *t)
{
    const struct recorded *r = t->r;
    usec_t next = drive_next(&t->drive);
    if (t->arrivals < r->jobs.n && r->jobs.at[t->arrivals]->arrived < next)
        next = r->jobs.at[t->arrivals]->arrived;
    if (t->changes < r->changes.n && r->changes.at[t->changes].at < next)
        next = r->changes.at[t->changes].at;
    return next > t->drive.now ? next : t->drive.now;
}

static int end_jobs(struct trial *t, struct err *err)
{
    uint32_t task;
    usec_t at;
    while (drive_take_ended(&t->drive, &task, &at)) {
        struct event end = {.kind = EVENT_END, .task = task};
        t->ends[t->job_of.at[task]] = at;
        if (drive_step(&t->drive, &end, err) < 0)
            return -1;
    }
    return 0;
}

/* A node that shrinks keeps what its jobs hold, which may be more under another policy. */
static struct capacity at_least_held(struct capacity has, const struct node *n)
{
    has.cpus = has.cpus < n->cpu_held ? n->cpu_held : has.cpus;
    has.gpus = has.gpus < n->gpu_held ? n->gpu_held : has.gpus;
    if (has.memory_mb && has.memory_mb < n->memory_held)
        has.memory_mb = n->memory_held;
    devices_raise(&has.devices, &n->devices_held);
    return has;
}

static int change_node(struct trial *t, const struct node_change *c, struct err *err)
{
    const struct cluster *cluster = &t->e.cluster;
    uint32_t node = find_node(cluster, c->has.name);
    bool known = node < cluster->n;
    struct capacity has = known ? at_least_held(c->has, &cluster->nodes[node]) : c->has;
    struct event event = {.kind = c->is_state ? EVENT_NODE : EVENT_CAPACITY,
                          .node = node,
                          .state = c->state,
                          .has = &has};
    return c->is_state && !known ? 0 : drive_step(&t->drive, &event, err);
}

/* Leaves out a job that is too large for the nodes of that time. */
static int submit_job(struct trial *t, uint32_t i, struct err *err)
{
    const struct recorded_job *j = t->r->jobs.at[i];
    struct job *job = ARENA_NEW(&t->arena, struct job);
    struct event event = {.kind = EVENT_SUBMIT, .job = job};
    if (!(j->work > 0))
        return 0;
    *job = *j->job;
    job->work = j->work;
    if (drive_step(&t->drive, &event, err) < 0)
        return err->code == ERR_LIMIT ? 0 : -1;
    while (t->job_of.n <= t->e.submitted)
        VEC_PUSH(&t->job_of, 0);
    t->job_of.at[t->e.submitted] = i;
    return 0;
}

/* Applies what came from outside at this instant. */
static int take_outside(struct trial *t, struct err *err)
{
    const struct recorded *r = t->r;
    usec_t now = t->drive.now;
    for (; t->changes < r->changes.n && r->changes.at[t->changes].at <= now; t->changes++)
        if (change_node(t, &r->changes.at[t->changes], err) < 0)
            return -1;
    for (; t->arrivals < r->jobs.n && r->jobs.at[t->arrivals]->arrived <= now; t->arrivals++)
        if (submit_job(t, (uint32_t)t->arrivals, err) < 0)
            return -1;
    return 0;
}

static int run_trial(struct trial *t, struct err *err)
{
    for (usec_t next; (next = next_instant(t)) != USEC_NEVER;) {
        t->drive.now = next;
        if (end_jobs(t, err) < 0 || take_outside(t, err) < 0)
            return -1;
        if (!drive_is_due(&t->drive))
            continue;
        if (drive_tick(&t->drive, err) < 0)
            return -1;
        count_effects(&t->e, &t->f.preemptions, &t->f.moves, &t->f.resizes);
    }
    return 0;
}

int recorded_try(const struct recorded *r, const struct combo *combo, struct recorded_figures *out,
                 struct err *err)
{
    struct trial t = {.r = r};
    struct engine_config config = r->config;
    config.combo = *combo;
    config.explain = false;
    config.instant = true;
    engine_init(&t.e, &config, &r->cluster);
    drive_init(&t.drive, &t.e, r->first);
    t.ends = xreallocarray(NULL, r->jobs.n, sizeof *t.ends);
    for (size_t i = 0; i < r->jobs.n; i++)
        t.ends[i] = USEC_NEVER;
    int rc = run_trial(&t, err);
    if (rc == 0) {
        *out = sum_up(r, t.ends);
        out->preemptions = t.f.preemptions;
        out->moves = t.f.moves;
        out->resizes = t.f.resizes;
    }
    free(t.ends);
    VEC_DONE(&t.job_of);
    drive_done(&t.drive);
    engine_done(&t.e);
    arena_done(&t.arena);
    return rc;
}
