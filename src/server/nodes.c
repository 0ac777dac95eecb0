/* Owns the runtimes and the nodes that they report. */
#include "server/nodes.h"

#include <jansson.h>
#include <string.h>

#include "server/engines.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/eligible.h"
#include "server/jobs/links.h"
#include "server/jobs/log_copy.h"
#include "server/jobs/move.h"
#include "server/log.h"
#include "store/nodes.h"

static usec_t read_now(const struct runtime_host *h)
{
    const struct yard *y = h->ctx;
    return clock_now(&y->clock);
}

static usec_t read_wall(const struct runtime_host *h)
{
    const struct yard *y = h->ctx;
    return clock_wall(&y->clock);
}

int nodes_find(const struct yard *y, const char *name, uint32_t *node, struct err *err)
{
    for (uint32_t i = 0; i < y->nodes.n; i++)
        if (!strcmp(y->nodes.at[i].name, name)) {
            *node = i;
            return 0;
        }
    return err_set(err, ERR_NOT_FOUND, "no node '%s'; `trainyard nodes` lists them", name);
}

/* ---- state ---------------------------------------------------------------------- */

/* Failed starts in a row after which a node counts as drained. */
enum { REFUSALS_MOST = 5 };

bool nodes_gave_up(const struct yard_node *n)
{
    return n->refusals >= REFUSALS_MOST;
}

static enum node_state state_of(const struct yard_node *n)
{
    if (n->lost || n->suspect || n->fenced || n->gone)
        return NODE_CLOSED;
    if (n->drained || n->closed || (n->closed_until && nodes_gave_up(n)))
        return NODE_DRAINING;
    return n->closed_until ? NODE_CLOSED : NODE_UP;
}

/* Forgets failed starts: the node takes jobs again, as far as it depends on them. */
static void forgive(struct yard_node *n)
{
    n->refusals = 0;
    n->closed_until = 0;
    free(n->refusal);
    n->refusal = NULL;
}

static void apply_state(struct yard *y, uint32_t node)
{
    struct event event = {.kind = EVENT_NODE, .node = node, .state = state_of(&y->nodes.at[node])};
    struct err err;
    y->cluster.nodes[node].state = event.state;
    if (!y->has_engine || y->engine.cluster.nodes[node].state == event.state)
        return;
    if (yard_step(y, &event, &err) < 0)
        log_warning("node=%s %s", y->nodes.at[node].name, err.text);
    turn_hurry(y);
}

void nodes_follow_fences(struct yard *y, uint32_t node)
{
    uint32_t n = 0;
    for (size_t i = 0; i < y->attempts.n; i++)
        n += y->attempts.at[i]->node == node && y->attempts.at[i]->fenced;
    if (y->nodes.at[node].fenced == n)
        return;
    y->nodes.at[node].fenced = n;
    apply_state(y, node);
}

int nodes_drain(struct yard *y, uint32_t node, bool drain, struct err *err)
{
    struct yard_node *n = &y->nodes.at[node];
    struct node_row row = {.name = n->name, .drained = drain, .reason = ""};
    bool was_drained = n->drained || nodes_gave_up(n);
    if (n->drained != drain && store_node_save(y->store, &row, err) < 0)
        return -1;
    n->drained = drain;
    if (!drain)
        forgive(n);
    apply_state(y, node);
    if (drain && y->has_engine)
        move_off(y, node);
    if (was_drained != drain)
        events_add(y, drain ? "node.drained" : "node.undrained", 0,
                   json_pack("{s:s}", "node", n->name));
    turn_hurry(y);
    return 0;
}

static int load_drained(void *ctx, const struct node_row *row, struct err *err)
{
    struct yard *y = ctx;
    uint32_t node;
    struct err unknown;
    (void)err;
    if (row->drained && nodes_find(y, row->name, &node, &unknown) == 0) {
        y->nodes.at[node].drained = true;
        apply_state(y, node);
    }
    return 0;
}

/* ---- capacity ------------------------------------------------------------------- */

static units_t larger(units_t a, units_t b)
{
    return a > b ? a : b;
}

/* The engine's capacity of a node: what the node has, and at least what jobs hold there. */
static struct capacity engine_capacity(const struct yard *y, uint32_t node)
{
    const struct node *has = &y->cluster.nodes[node], *held = &y->engine.cluster.nodes[node];
    bool types_differ = held->gpu_held && held->gpu_pool != has->gpu_pool;
    uint8_t pool = types_differ ? held->gpu_pool : has->gpu_pool;
    struct capacity c = {.name = has->name,
                         .cpus = larger(has->cpus, held->cpu_held),
                         .gpus = types_differ ? held->gpu_held : larger(has->gpus, held->gpu_held),
                         .memory_mb = has->memory_mb,
                         .memory_used = y->nodes.at[node].memory_used,
                         .devices = has->devices};
    devices_raise(&c.devices, &held->devices_held);
    if (c.gpus)
        c.gpu_type = y->cluster.gpu_types[pool - POOL_GPU];
    if (c.memory_mb && c.memory_mb < held->memory_held)
        c.memory_mb = held->memory_held;
    return c;
}

static bool has_capacity(const struct yard *y, uint32_t node, const struct capacity *c)
{
    const struct node *n = &y->engine.cluster.nodes[node];
    return n->cpus == c->cpus && n->gpus == c->gpus && n->memory_mb == c->memory_mb &&
           n->memory_used == c->memory_used && devices_equal(&n->devices, &c->devices) &&
           (!c->gpus || cluster_gpu_pool(&y->engine.cluster, c->gpu_type) == n->gpu_pool);
}

static void set_capacity(struct yard *y, uint32_t node, const struct capacity *c)
{
    struct event event = {.kind = EVENT_CAPACITY, .node = node, .has = c};
    struct err err;
    if (node < y->engine.cluster.n && has_capacity(y, node, c))
        return;
    if (yard_step(y, &event, &err) < 0)
        log_warning("node=%s capacity: %s", c->name, err.text);
}

void nodes_make_room(struct yard *y, const struct task *was)
{
    for (uint32_t i = 0; i < was->at.n; i++) {
        const struct slot *slot = &was->at.at[i];
        const struct node *held = &y->engine.cluster.nodes[slot->node];
        struct capacity c = engine_capacity(y, slot->node);
        if (was->phase != TASK_PAUSED) {
            c.cpus = larger(c.cpus, held->cpu_held + job_cpus(was->job, was->pool, slot->units));
            if (was->pool != POOL_CPU) {
                c.gpus = larger(c.gpus, held->gpu_held + slot->units);
                c.gpu_type = y->cluster.gpu_types[was->pool - POOL_GPU];
            }
        }
        struct devices needed = held->devices_held;
        devices_add(&needed, &was->job->devices, 1);
        devices_raise(&c.devices, &needed);
        if (c.memory_mb && c.memory_mb < held->memory_held + was->job->memory_mb)
            c.memory_mb = held->memory_held + was->job->memory_mb;
        set_capacity(y, slot->node, &c);
    }
}

/* Memory that jobs without a limit use on the node. */
static double used_memory(const struct yard *y, uint32_t node)
{
    double sum = 0;
    for (size_t i = 0; i < y->attempts.n; i++) {
        const struct attempt *a = y->attempts.at[i];
        const struct live_job *j = a->node == node && !a->leaves ? yard_live(y, a->job) : NULL;
        if (j && j->attempt == a && !j->terms.memory_mb && j->usage.known)
            sum += j->usage.memory_mb;
    }
    return sum;
}

/* In steps, of which the last is only given back when it is not needed by far: otherwise the
 * engine would be told of every sample. */
static void count_memory(struct yard *y, uint32_t node)
{
    int64_t has = y->cluster.nodes[node].memory_mb, step = has / 64 > 64 ? has / 64 : 64;
    int64_t *used = &y->nodes.at[node].memory_used;
    double now = has ? used_memory(y, node) : 0;
    int64_t steps = (int64_t)(now / (double)step) + (now > 0);
    if (steps * step > *used || (steps + 1) * step < *used || now <= 0)
        *used = steps * step;
}

void nodes_follow(struct yard *y)
{
    for (uint32_t i = 0; i < y->nodes.n; i++)
        count_memory(y, i);
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        struct capacity c = engine_capacity(y, i);
        set_capacity(y, i, &c);
    }
}

unsigned nodes_gpu_pool(struct yard *y, const char *type)
{
    struct cluster *c = &y->cluster;
    unsigned pool = cluster_gpu_pool(c, type), next = cluster_pools(c);
    if (pool < POOLS_MAX)
        return pool;
    if (next == POOLS_MAX)
        return next - 1;
    c->gpu_types[next - POOL_GPU] = arena_strdup(&y->node_texts, type);
    return next;
}

/* ---- reports of runtimes -------------------------------------------------------- */

/* The index of a runtime. One that is being opened is not in the list yet: it is next. */
static uint32_t runtime_index(const struct yard *y, const struct runtime *r)
{
    uint32_t i = 0;
    while (i < y->runtimes.n && y->runtimes.at[i].runtime != r)
        i++;
    return i;
}

/* A runtime runs either processes or containers, and each job is one of them. To the engine
 * these are devices, of which a node has as many as it can need, or none. */
static struct devices node_devices(const struct runtime_ops *ops)
{
    struct devices d = {0};
    d.of[ops->images ? DEVICE_CONTAINER : DEVICE_PROCESS] = DEVICES_LIMIT;
    return d;
}

static const struct runtime_ops *ops_at(const struct yard *y, uint32_t runtime)
{
    return runtime < y->runtimes.n ? y->runtimes.at[runtime].ops : y->config.runtimes[runtime].ops;
}

static uint32_t add_node(struct yard *y, uint32_t runtime, const char *name)
{
    struct cluster *c = &y->cluster;
    const char *kept = arena_strdup(&y->node_texts, name);
    VEC_PUSH(&y->nodes, (struct yard_node){.name = kept, .runtime = runtime});
    c->nodes = xgrowarray(c->nodes, c->n, c->n + 1, sizeof *c->nodes);
    c->nodes[c->n].name = kept;
    return c->n++;
}

/* The only node of a runtime of this name whose engine is this machine. Its name may have
 * changed. */
static bool find_own(const struct yard *y, const char *runtime, uint32_t *node)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        const struct runtime_ops *ops = nodes_runtime(y, i)->ops;
        if (y->nodes.at[i].orphan || !ops->in_place || strcmp(ops->name, runtime) != 0)
            continue;
        *node = i;
        found++;
    }
    return found == 1;
}

/* The runtime of this name, if its nodes are reported later. */
static bool find_discoverer(const struct yard *y, const char *runtime, uint32_t *out)
{
    for (uint32_t i = 0; i < y->runtimes.n; i++)
        if (y->runtimes.at[i].ops->discovers && !strcmp(y->runtimes.at[i].ops->name, runtime)) {
            *out = i;
            return true;
        }
    return false;
}

uint32_t nodes_expect(struct yard *y, const char *runtime, const char *name)
{
    uint32_t node;
    struct err unknown;
    if (nodes_find(y, name, &node, &unknown) == 0 || find_own(y, runtime, &node))
        return node;
    uint32_t server = 0;
    bool known = find_discoverer(y, runtime, &server);
    node = add_node(y, server, name);
    y->nodes.at[node].lost = true;
    y->nodes.at[node].orphan = !known;
    apply_state(y, node);
    if (known)
        return node;
    log_warning("node=%s has jobs, but no runtime serves it: they are left alone", name);
    return node;
}

static bool has_changed(const struct node *a, const struct node *b)
{
    return a->cpus != b->cpus || a->gpus != b->gpus || a->gpu_pool != b->gpu_pool ||
           a->memory_mb != b->memory_mb || !devices_equal(&a->devices, &b->devices);
}

static void add_event(struct yard *y, const char *kind, const struct node *n)
{
    events_add(y, kind, 0,
               json_pack("{s:s, s:f, s:f, s:I}", "node", n->name, "cpus", (double)n->cpus / UNIT,
                         "gpus", (double)n->gpus / UNIT, "memory_mb", (json_int_t)n->memory_mb));
    turn_hurry(y);
}

/* Passes a new or changed node to the engine and to the jobs that wait for one. */
static void apply_change(struct yard *y, uint32_t node, const char *kind)
{
    if (node == y->engine.cluster.n) {
        const struct node *n = &y->cluster.nodes[node];
        struct capacity c = {.name = n->name,
                             .cpus = n->cpus,
                             .gpus = n->gpus,
                             .gpu_type =
                                 n->gpus ? y->cluster.gpu_types[n->gpu_pool - POOL_GPU] : NULL,
                             .memory_mb = n->memory_mb,
                             .devices = n->devices};
        set_capacity(y, node, &c);
    }
    nodes_follow(y);
    add_event(y, kind, &y->cluster.nodes[node]);
    eligible_fit_all(y);
}

static void take_node(struct runtime_host *h, struct runtime *r, const struct runtime_node *told)
{
    struct yard *y = h->ctx;
    uint32_t runtime = runtime_index(y, r), i;
    struct err unknown;
    bool new = nodes_find(y, told->name, &i, &unknown) < 0;
    if (new)
        i = add_node(y, runtime, told->name);
    struct yard_node *n = &y->nodes.at[i];
    if (n->orphan) {
        n->runtime = runtime;
        n->orphan = false;
    }
    if (n->runtime != runtime) {
        log_warning("node=%s ignored: the runtime %s already has a node of this name", n->name,
                    y->runtimes.at[n->runtime].ops->name);
        return;
    }
    struct node was = y->cluster.nodes[i], *is = &y->cluster.nodes[i];
    bool was_lost = n->lost, was_suspect = n->suspect;
    free(n->notice);
    n->notice = told->notice ? xstrdup(told->notice) : NULL;
    free(n->host);
    n->host = told->host ? xstrdup(told->host) : NULL;
    n->lost = told->lost;
    n->suspect = told->suspect && !told->lost;
    n->here = told->here;
    n->memory_free = told->memory_free;
    if (n->lost && !was_lost)
        n->lost_since = clock_now(&y->clock);
    n->gone = told->gone;
    n->closed = told->closed;
    is->cpus = told->gone ? 0 : told->cpus;
    is->gpus = told->gone ? 0 : told->gpus;
    is->gpu_pool = (uint8_t)(is->gpus ? nodes_gpu_pool(y, told->gpu_type) : POOL_CPU);
    is->memory_mb = told->memory_mb;
    is->devices = node_devices(ops_at(y, runtime));
    if (y->has_engine && (new || has_changed(&was, is)))
        apply_change(y, i, new ? "node.joined" : told->gone ? "node.removed" : "node.changed");
    apply_state(y, i);
    if (!y->has_engine)
        return;
    if (was_lost != n->lost)
        add_event(y, n->lost ? "node.lost" : "node.returned", is);
    else if (n->suspect && !was_suspect)
        add_event(y, "node.suspect", is);
    if (n->lost)
        yard_care(y); /* leases end */
}

static int open_runtime(struct yard *y, const struct runtime_choice *choice, struct err *err)
{
    struct yard_runtime r = {.ops = choice->ops};
    if (r.ops->open(&y->host, choice->options, &r.runtime, err) < 0)
        return -1;
    VEC_PUSH(&y->runtimes, r);
    return 0;
}

int nodes_open(struct yard *y, struct err *err)
{
    y->host = (struct runtime_host){.ctx = y,
                                    .loop = y->loop,
                                    .state_dir = y->config.state_dir,
                                    .run_dir = y->config.run_dir,
                                    .job_descriptors = y->config.job_descriptors,
                                    .now = read_now,
                                    .wall = read_wall,
                                    .node = take_node,
                                    .message = links_message,
                                    .unlinked = links_lost,
                                    .waits = attempt_waits,
                                    .log = log_copy_take};
    runtime_host_init(&y->host);
    for (size_t i = 0; i < y->config.n_runtimes; i++)
        if (open_runtime(y, &y->config.runtimes[i], err) < 0)
            return -1;
    if (engines_load(y, err) < 0)
        return -1;
    return store_node_list(y->store, load_drained, y, err);
}

void nodes_close(struct yard *y)
{
    for (size_t i = 0; i < y->runtimes.n; i++)
        y->runtimes.at[i].ops->close(y->runtimes.at[i].runtime);
    for (size_t i = 0; i < y->nodes.n; i++) {
        free(y->nodes.at[i].notice);
        free(y->nodes.at[i].host);
        free(y->nodes.at[i].refusal);
        VEC_DONE(&y->nodes.at[i].waiting);
    }
    VEC_DONE(&y->runtimes);
    VEC_DONE(&y->nodes);
    free(y->cluster.nodes);
    y->cluster = (struct cluster){0};
    arena_done(&y->node_texts);
}

void nodes_restore(struct yard *y)
{
    for (size_t i = 0; i < y->runtimes.n; i++) {
        const struct yard_runtime *r = &y->runtimes.at[i];
        struct err err;
        if (r->ops->restore && r->ops->restore(r->runtime, &err) < 0)
            log_warning("%s", err.text);
    }
}

char *nodes_files(const struct yard *y, const struct attempt *a)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    return r->ops->files(r->runtime, attempt_id_of(a));
}

bool nodes_has_runtime(const struct yard *y, const char *name)
{
    for (size_t i = 0; i < y->runtimes.n; i++)
        if (!strcmp(y->runtimes.at[i].ops->name, name))
            return true;
    return false;
}

bool nodes_discover_images(const struct yard *y)
{
    for (size_t i = 0; i < y->runtimes.n; i++)
        if (y->runtimes.at[i].ops->discovers && y->runtimes.at[i].ops->images)
            return true;
    return false;
}

bool nodes_run_images(const struct yard *y)
{
    if (nodes_discover_images(y))
        return true;
    for (uint32_t i = 0; i < y->nodes.n; i++)
        if (!y->nodes.at[i].orphan && !y->nodes.at[i].gone && nodes_runtime(y, i)->ops->images)
            return true;
    return false;
}

bool nodes_unknown(const struct yard *y)
{
    bool unknown = nodes_discover_images(y);
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        const struct yard_node *n = &y->nodes.at[i];
        if (n->orphan || n->gone || !nodes_runtime(y, i)->ops->images)
            continue;
        if (!n->lost || y->cluster.nodes[i].cpus)
            return false;
        unknown = true;
    }
    return unknown;
}

/* ---- failed starts -------------------------------------------------------------- */

/* The pause doubles with each failure in a row. */
#define PAUSE_FIRST USEC_PER_SEC
#define PAUSE_LONGEST (300 * USEC_PER_SEC)

void nodes_refused(struct yard *y, uint32_t node, const char *why)
{
    struct yard_node *n = &y->nodes.at[node];
    usec_t pause = PAUSE_FIRST << (n->refusals < 16 ? n->refusals : 16);
    pause = pause < PAUSE_LONGEST ? pause : PAUSE_LONGEST;
    n->refusals++;
    n->closed_until = clock_now(&y->clock) + pause;
    free(n->refusal);
    n->refusal = xstrdup(why);
    events_add(y, "node.refused", 0,
               json_pack("{s:s, s:s, s:I, s:f}", "node", n->name, "reason", why, "times",
                         (json_int_t)n->refusals, "pause_s", time_seconds(pause)));
    log_warning("node=%s start failed (%u in a row), closed for %g s: %s", n->name, n->refusals,
                time_seconds(pause), why);
    if (n->refusals == REFUSALS_MOST)
        events_add(y, "node.drained", 0, json_pack("{s:s, s:s}", "node", n->name, "reason", why));
    apply_state(y, node);
    yard_care(y);
}

void nodes_accepted(struct yard *y, uint32_t node)
{
    struct yard_node *n = &y->nodes.at[node];
    if (!n->refusals)
        return;
    if (nodes_gave_up(n))
        events_add(y, "node.undrained", 0, json_pack("{s:s}", "node", n->name));
    forgive(n);
    apply_state(y, node);
    events_add(y, "node.accepted", 0, json_pack("{s:s}", "node", n->name));
}

usec_t nodes_look(struct yard *y, usec_t now)
{
    usec_t next = USEC_NEVER;
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        struct yard_node *n = &y->nodes.at[i];
        if (n->closed_until && n->closed_until <= now) {
            n->closed_until = 0;
            apply_state(y, i);
        }
        if (n->closed_until && n->closed_until < next)
            next = n->closed_until;
    }
    return next;
}

/* ---- turns ------------------------------------------------------------------------ */

usec_t nodes_due(const struct yard *y)
{
    usec_t due = USEC_NEVER;
    for (size_t i = 0; i < y->runtimes.n; i++) {
        const struct yard_runtime *r = &y->runtimes.at[i];
        usec_t t = r->ops->due ? r->ops->due(r->runtime) : USEC_NEVER;
        due = t < due ? t : due;
    }
    return due;
}

void nodes_turn(struct yard *y, usec_t now)
{
    for (size_t i = 0; i < y->runtimes.n; i++) {
        const struct yard_runtime *r = &y->runtimes.at[i];
        if (r->ops->due && r->ops->due(r->runtime) <= now)
            r->ops->turn(r->runtime, now);
    }
}

bool nodes_limit_memory(const struct yard *y, uint32_t node)
{
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        const struct yard_node *n = &y->nodes.at[i];
        if (!n->gone && !n->memory_free && (node == NODES_ANY || node == i))
            return true;
    }
    return false;
}
