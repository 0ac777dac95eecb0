/* The Docker runtime: each attempt is a container of an engine, which may be on any machine.
 * This file owns the list of nodes and attempts, and the table of functions. node.c keeps the
 * connections to engines, operations.c, start.c and settle.c carry out operations, link.c and
 * log.c talk to conductors through the engine.
 *
 * The engine is the record: a container has the attempt's name, which exists once, and labels
 * with the identity of the server's state directory, so servers with different state leave each
 * other's containers alone.
 *
 * Callbacks of libcurl must not begin or end transfers. So what comes in the middle of a transfer
 * (events, progress) is only noted there, and handled in the runtime's turn. */
#include "runtime/docker/docker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/docker/bring.h"
#include "runtime/docker/container.h"
#include "runtime/docker/files.h"
#include "runtime/docker/link.h"
#include "runtime/docker/log.h"
#include "runtime/docker/node.h"
#include "runtime/docker/operations.h"
#include "runtime/docker/start.h"

usec_t docker_now(const struct runtime *r)
{
    return r->host->now(r->host);
}

/* ---- attempts ------------------------------------------------------------------------- */

struct docker_attempt *docker_find(const struct runtime *r, struct attempt_id id)
{
    for (size_t i = 0; i < r->attempts.n; i++)
        if (attempt_id_same(r->attempts.at[i]->id, id))
            return r->attempts.at[i];
    return NULL;
}

static struct docker_node *docker_find_node(const struct runtime *r, const char *name)
{
    for (size_t i = 0; i < r->nodes.n; i++)
        if (!strcmp(r->nodes.at[i]->wanted.name, name))
            return r->nodes.at[i];
    return NULL;
}

static struct docker_attempt *add_attempt(struct runtime *r, struct attempt_id id,
                                          struct docker_node *node)
{
    struct docker_attempt *a = xcalloc(1, sizeof *a);
    a->id = id;
    a->node = node;
    link_init(a);
    snprintf(a->name, sizeof a->name, "trainyard-%s-%lld-%u", r->yard, (long long)id.job, id.n);
    if (id.part)
        snprintf(a->name + strlen(a->name), sizeof a->name - strlen(a->name), "-%u", id.part);
    VEC_PUSH(&r->attempts, a);
    return a;
}

static void free_attempt(struct docker_attempt *a)
{
    call_cancel(a->call);
    relay_link_end(&a->link);
    log_cancel(a);
    start_done(a->start);
    file_done(a);
    free(a);
}

void docker_forget(struct docker_attempt *a)
{
    struct runtime *r = a->node->runtime;
    size_t i = 0;
    while (r->attempts.at[i] != a)
        i++;
    r->attempts.at[i] = r->attempts.at[--r->attempts.n];
    a->node->gpus_used &= ~a->gpus;
    free_attempt(a);
}

/* ---- operations ------------------------------------------------------------------------- */

static void refuse(struct runtime *r, struct runtime_op *op)
{
    err_set(&op->err, ERR_UNREACHABLE, "%s: there is no such node any more", op->node);
    runtime_complete(r->host, op);
}

static void begin(struct runtime *r, struct runtime_op *op)
{
    struct docker_attempt *a = docker_find(r, op->id);
    struct docker_node *node = docker_find_node(r, op->node);
    if (!a && !node) {
        refuse(r, op);
        return;
    }
    if (!a)
        a = add_attempt(r, op->id, node);
    a->op = op;
    a->held = !a->node->connected && op->kind != OP_START;
    if (!a->held)
        docker_begin(a);
}

/* An operation on a node that does not answer waits for it, until its deadline. */
static void pursue_held(struct docker_attempt *a, usec_t now)
{
    struct err err;
    if (a->node->connected) {
        a->held = false;
        docker_begin(a);
    } else if (a->op->deadline <= now) {
        a->held = false;
        err_set(&err, ERR_UNREACHABLE, "%s",
                *a->node->trouble ? a->node->trouble : "the engine does not answer");
        docker_complete(a, &err);
    }
}

static void adopt(struct runtime *r, struct attempt_id id, const char *node,
                  const struct runtime_size *size)
{
    struct docker_node *n = docker_find_node(r, node);
    (void)size; /* the resize that follows sets it */
    if (n && !docker_find(r, id))
        add_attempt(r, id, n);
}

/* Containers are compared with what is wanted when their engine lists them. */
static void sweep(struct runtime *r)
{
    r->swept = true;
}

/* ---- time ----------------------------------------------------------------------------------- */

static usec_t attempt_due(const struct docker_attempt *a)
{
    usec_t first = relay_link_due(&a->link);
    if (start_bring(a) && bring_due(start_bring(a)) < first)
        first = bring_due(start_bring(a));
    if (a->died || start_has_news(a) || (a->held && a->node->connected))
        return 0;
    return a->held && a->op->deadline < first ? a->op->deadline : first;
}

static usec_t due(const struct runtime *r)
{
    usec_t first = USEC_NEVER;
    for (size_t i = 0; i < r->nodes.n; i++) {
        usec_t t = node_due(r->nodes.at[i]);
        first = t < first ? t : first;
    }
    for (size_t i = 0; i < r->attempts.n; i++) {
        const struct docker_attempt *a = r->attempts.at[i];
        usec_t t = attempt_due(a);
        first = t < first ? t : first;
    }
    return first;
}

static void turn(struct runtime *r, usec_t now)
{
    for (size_t i = 0; i < r->nodes.n; i++)
        if (node_due(r->nodes.at[i]) <= now)
            node_turn(r->nodes.at[i], now);
    for (size_t i = 0; i < r->attempts.n; i++) {
        struct docker_attempt *a = r->attempts.at[i];
        if (a->died) {
            a->died = false;
            relay_link_drop(&a->link);
        }
        if (start_has_news(a))
            start_say_waits(a);
        if (start_bring(a) && bring_due(start_bring(a)) <= now)
            bring_turn(start_bring(a), now);
        if (a->held)
            pursue_held(a, now);
        if (relay_link_due(&a->link) <= now)
            relay_link_turn(&a->link);
    }
}

/* ---- open and close ------------------------------------------------------------------------- */

static void docker_close(struct runtime *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->attempts.n; i++)
        free_attempt(r->attempts.at[i]);
    for (size_t i = 0; i < r->nodes.n; i++)
        node_free(r->nodes.at[i]);
    VEC_DONE(&r->attempts);
    VEC_DONE(&r->nodes);
    curl_loop_close(r->curl);
    str_done(&r->tools);
    free(r);
}

static int docker_open(struct runtime_host *h, const void *options, struct runtime **out,
                       struct err *err)
{
    char yard[RUNTIME_YARD_SIZE];
    const struct docker_options *o = options;
    if (runtime_yard_id(h, yard, err) < 0)
        return -1;
    struct runtime *r = xcalloc(1, sizeof *r);
    r->host = h;
    r->suspect_after = o->suspect_after;
    r->lost_after = o->lost_after;
    memcpy(r->yard, yard, sizeof r->yard);
    if (files_load_tools(r, err) < 0 || curl_loop_open(h->loop, &r->curl, err) < 0) {
        docker_close(r);
        return -1;
    }
    *out = r;
    return 0;
}

static const char *tool(const struct runtime *r, enum runtime_tool which)
{
    /* Not the Python package: its variable would replace the image's own. */
    static const char *const paths[TOOL_COUNT] = {[TOOL_MALLEABLE] = CONTAINER_LIBRARY,
                                                  [TOOL_LINES] = CONTAINER_LINES,
                                                  [TOOL_TORCHRUN] = CONTAINER_TORCHRUN,
                                                  [TOOL_HOSTS] = CONTAINER_HOSTS};
    return r->has[which] ? paths[which] : NULL;
}

static char *files(const struct runtime *r, struct attempt_id id)
{
    (void)r;
    (void)id;
    return xstrdup(CONTAINER_ATTEMPT);
}

/* The engine chooses CPUs; only their number is bounded. */
static const char *cpuset(const struct runtime *r, struct attempt_id id)
{
    (void)r;
    (void)id;
    return NULL;
}

const struct runtime_ops runtime_docker = {
    .name = "docker",
    .images = true,
    .leases = true,
    .checkpoints = CONTAINER_CHECKPOINTS,
    .open = docker_open,
    .close = docker_close,
    .attach = node_attach,
    .detach = node_detach,
    .begin = begin,
    .adopt = adopt,
    .sweep = sweep,
    .send = relay_link_send,
    .unlink = relay_link_unlink,
    .fetch_log = log_fetch,
    .tool = tool,
    .files = files,
    .cpuset = cpuset,
    .due = due,
    .turn = turn,
};
