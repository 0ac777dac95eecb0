/* Owns the runtimes, and the nodes that they tell of. */
#include "server/nodes.h"

#include <jansson.h>
#include <string.h>

#include "server/events.h"
#include "server/jobs/links.h"
#include "server/log.h"
#include "store/nodes.h"

static uint8_t gpu_pool(struct cluster *c, const char *type)
{
    unsigned i = 0;
    for (; i < POOLS_MAX - 1 && c->gpu_types[i]; i++)
        if (!strcmp(c->gpu_types[i], type))
            break;
    if (i == POOLS_MAX - 1)
        i--;
    if (!c->gpu_types[i])
        c->gpu_types[i] = type;
    return (uint8_t)(POOL_GPU + i);
}

static usec_t read_now(const struct runtime_host *h)
{
    const struct yard *y = h->ctx;
    return clock_now(&y->clock);
}

/* A node that is told of while the runtimes are being opened. */
static void add_node(struct runtime_host *h, struct runtime *r, const struct runtime_node *n)
{
    struct yard *y = h->ctx;
    struct cluster *c = &y->cluster;
    (void)r;
    struct yard_node node = {.name = xstrdup(n->name),
                             .notice = n->notice ? xstrdup(n->notice) : NULL,
                             .gpu_type = xstrdup(n->gpu_type ? n->gpu_type : "gpu"),
                             .runtime = (uint32_t)y->runtimes.n};
    VEC_PUSH(&y->nodes, node);
    c->nodes = xreallocarray(c->nodes, c->n + 1, sizeof *c->nodes);
    c->nodes[c->n++] = (struct node){.name = node.name,
                                     .cpus = n->cpus,
                                     .gpus = n->gpus,
                                     .gpu_pool = gpu_pool(c, node.gpu_type),
                                     .memory_mb = n->memory_mb};
}

static int load_node(void *ctx, const struct node_row *row, struct err *err)
{
    struct yard *y = ctx;
    uint32_t node;
    struct err unknown;
    (void)err;
    if (row->drained && yard_find_node(y, row->name, &node, &unknown) == 0)
        y->cluster.nodes[node].state = NODE_DRAINING;
    return 0;
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
                                    .now = read_now,
                                    .node = add_node,
                                    .message = links_message,
                                    .unlinked = links_lost};
    runtime_host_init(&y->host);
    for (size_t i = 0; i < y->config.n_runtimes; i++)
        if (open_runtime(y, &y->config.runtimes[i], err) < 0)
            return -1;
    return store_node_list(y->store, load_node, y, err);
}

void nodes_close(struct yard *y)
{
    for (size_t i = 0; i < y->runtimes.n; i++)
        y->runtimes.at[i].ops->close(y->runtimes.at[i].runtime);
    for (size_t i = 0; i < y->nodes.n; i++) {
        free(y->nodes.at[i].name);
        free(y->nodes.at[i].notice);
        free(y->nodes.at[i].gpu_type);
        free(y->nodes.at[i].refusal);
        VEC_DONE(&y->nodes.at[i].waiting);
    }
    VEC_DONE(&y->runtimes);
    VEC_DONE(&y->nodes);
    free(y->cluster.nodes);
    y->cluster = (struct cluster){0};
}

char *nodes_files(const struct yard *y, const struct attempt *a)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    return r->ops->files(r->runtime, (struct attempt_id){a->job, a->n});
}

bool nodes_run_images(const struct yard *y)
{
    for (size_t i = 0; i < y->runtimes.n; i++)
        if (y->runtimes.at[i].ops->images)
            return true;
    return false;
}

/* ---- nodes that refuse ---------------------------------------------------------- */

/* The first pause, which doubles up to the longest. */
#define PAUSE_FIRST USEC_PER_SEC
#define PAUSE_LONGEST (300 * USEC_PER_SEC)

static void set_state(struct yard *y, uint32_t node, enum node_state state)
{
    struct event event = {.kind = EVENT_NODE, .node = node, .state = state};
    struct err err;
    if (y->engine.cluster.nodes[node].state == state)
        return;
    if (yard_step(y, &event, &err) < 0)
        log_warning("node=%s %s", y->nodes.at[node].name, err.text);
    turn_hurry(y);
}

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
    log_warning("node=%s refused a start (%u in a row), closed for %g s: %s", n->name, n->refusals,
                time_seconds(pause), why);
    if (y->engine.cluster.nodes[node].state == NODE_UP)
        set_state(y, node, NODE_CLOSED);
    yard_care(y);
}

void nodes_accepted(struct yard *y, uint32_t node)
{
    struct yard_node *n = &y->nodes.at[node];
    if (!n->refusals)
        return;
    n->refusals = 0;
    n->closed_until = 0;
    free(n->refusal);
    n->refusal = NULL;
    if (y->engine.cluster.nodes[node].state == NODE_CLOSED)
        set_state(y, node, NODE_UP);
    events_add(y, "node.accepted", 0, json_pack("{s:s}", "node", n->name));
}

usec_t nodes_look(struct yard *y, usec_t now)
{
    usec_t next = USEC_NEVER;
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        struct yard_node *n = &y->nodes.at[i];
        if (n->closed_until && n->closed_until <= now) {
            n->closed_until = 0;
            if (y->engine.cluster.nodes[i].state == NODE_CLOSED)
                set_state(y, i, NODE_UP);
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
