/* Owns the connection to an engine: which version of its API to speak, what the machine has, which
 * containers of ours are there, and a stream of what happens to them.
 *
 * The stream is begun before containers are listed, so nothing is missed between the two. When it
 * ends, or the engine does not answer, all that is done again. A node is reported as lost when it
 * has not answered for LOST_AFTER. */
#include "runtime/docker/node.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "runtime/docker/link.h"

#define PING_EVERY (10 * USEC_PER_SEC)
#define CALL_LIMIT (10 * USEC_PER_SEC)
#define LOST_AFTER (25 * USEC_PER_SEC)
#define PAUSE_FIRST (USEC_PER_SEC / 2)
#define PAUSE_LONGEST (15 * USEC_PER_SEC)
enum { EVENT_MAX = 65536 };

/* ---- reports ------------------------------------------------------------------------------ */

units_t node_cpus(const struct docker_node *n)
{
    return (units_t)(n->has.cpus * UNIT);
}

static void report(struct docker_node *n, bool gone)
{
    struct runtime_host *h = n->runtime->host;
    const struct runtime_engine *w = &n->wanted;
    struct runtime_node node = {
        .name = w->name,
        .lost = n->lost,
        .gone = gone,
        .cpus = w->cpus ? w->cpus : node_cpus(n),
        .gpus = w->gpus,
        .gpu_type = w->gpu_type,
        .memory_mb = w->memory_mb ? w->memory_mb : n->has.memory_mb,
        .notice = *n->trouble ? n->trouble : NULL,
    };
    h->node(h, n->runtime, &node);
}

static void end_calls(struct docker_node *n)
{
    engine_cancel(n->call);
    engine_cancel(n->events);
    n->call = n->events = NULL;
    n->line.n = 0;
    n->connected = false;
}

/* Tries again, later and later; the node is lost if that has lasted for long. */
static void fail(struct docker_node *n, const struct err *why)
{
    usec_t now = docker_now(n->runtime);
    bool was_lost = n->lost, same = !strcmp(n->trouble, why->text);
    end_calls(n);
    n->at = now + n->pause;
    n->pause = n->pause * 2 < PAUSE_LONGEST ? n->pause * 2 : PAUSE_LONGEST;
    n->lost |= now - n->heard >= LOST_AFTER;
    snprintf(n->trouble, sizeof n->trouble, "%.*s", (int)sizeof n->trouble - 1, why->text);
    if (n->lost != was_lost || !same)
        report(n, false);
}

/* Whether the reply is a success; the connection has failed otherwise. */
static bool succeeded(struct docker_node *n, const struct engine_reply *r, struct err *err)
{
    n->call = NULL;
    if (engine_check(r, err) == 0) {
        n->heard = docker_now(n->runtime);
        return true;
    }
    fail(n, err);
    return false;
}

static void ask(struct docker_node *n, const char *path,
                void (*done)(void *ctx, const struct engine_reply *r), bool no_version)
{
    struct engine_request q = {.method = "GET",
                               .path = path,
                               .limit = CALL_LIMIT,
                               .done = done,
                               .ctx = n,
                               .no_version = no_version};
    n->call = engine_ask(n->engine, &q);
}

/* ---- containers ------------------------------------------------------------------------------ */

static void ignore(void *ctx, const struct engine_reply *r)
{
    (void)ctx;
    (void)r;
}

/* Nobody wants it: an earlier server was asked to forget it, or it was created too late. */
static void remove_container(struct docker_node *n, const char *id)
{
    struct str path = {0};
    str_addf(&path, "/containers/%s?force=1&v=1", id);
    struct engine_request q = {
        .method = "DELETE", .path = path.at, .limit = 6 * CALL_LIMIT, .done = ignore};
    engine_ask(n->engine, &q);
    str_done(&path);
}

static void compare(void *ctx, const struct answer_ours *c)
{
    struct docker_node *n = ctx;
    struct docker_attempt *a = docker_find(n->runtime, (struct attempt_id){c->job, c->attempt});
    if (a) {
        a->gpus |= c->gpus;
        n->gpus_used |= c->gpus;
    }
    if (!a && n->runtime->swept)
        remove_container(n, c->id);
    else if (a && c->state == CONTAINER_ENDED)
        a->died = true;
    else if (a && c->state == CONTAINER_RUNNING)
        link_want(a);
}

static void listed(void *ctx, const struct engine_reply *r)
{
    struct docker_node *n = ctx;
    struct err err;
    if (!succeeded(n, r, &err))
        return;
    if (answer_read_list(r->body, r->n, compare, n, &err) < 0) {
        fail(n, &err);
        return;
    }
    n->connected = true;
    n->lost = false;
    n->pause = PAUSE_FIRST;
    n->at = docker_now(n->runtime) + PING_EVERY;
    *n->trouble = '\0';
    report(n, false);
}

/* Both list and events are filtered by our label. */
static void add_filter(const struct docker_node *n, struct str *out)
{
    str_addf(out, "filters=%%7B%%22label%%22%%3A%%5B%%22" LABEL_YARD "%%3D%s%%22%%5D%%7D",
             n->runtime->yard);
}

static void list_containers(struct docker_node *n)
{
    struct str path = {0};
    str_add(&path, "/containers/json?all=1&");
    add_filter(n, &path);
    ask(n, path.at, listed, false);
    str_done(&path);
}

/* ---- events ------------------------------------------------------------------------------------
 */

static void take_event(struct docker_node *n)
{
    struct answer_ours c;
    if (answer_read_event(n->line.at, n->line.n, &c) != 1 || !c.died)
        return;
    struct docker_attempt *a = docker_find(n->runtime, (struct attempt_id){c.job, c.attempt});
    if (a)
        a->died = true;
}

/* Only notes what has happened: libcurl is in the middle of a transfer. */
static void take_events(void *ctx, const char *bytes, size_t n)
{
    struct docker_node *node = ctx;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (node->line.n < EVENT_MAX)
                str_add_n(&node->line, bytes + i, 1);
            continue;
        }
        if (node->line.n)
            take_event(node);
        node->line.n = 0;
    }
}

static void events_ended(void *ctx, const struct engine_reply *r)
{
    struct docker_node *n = ctx;
    struct err err;
    n->events = NULL;
    if (engine_check(r, &err) == 0)
        err_set(&err, ERR_UNREACHABLE, "the engine has closed its stream of events");
    fail(n, &err);
}

static void hear_events(struct docker_node *n)
{
    struct str path = {0};
    str_add(&path, "/events?");
    add_filter(n, &path);
    struct engine_request q = {.method = "GET",
                               .path = path.at,
                               .limit = USEC_NEVER,
                               .bytes = take_events,
                               .done = events_ended,
                               .ctx = n};
    n->events = engine_ask(n->engine, &q);
    str_done(&path);
}

/* ---- connecting
 * ---------------------------------------------------------------------------------- */

/* Our conductor is a program for this machine. */
static int check_architecture(const struct answer_info *info, struct err *err)
{
    struct utsname own;
    if (uname(&own) == 0 && *info->architecture && strcmp(own.machine, info->architecture) != 0)
        return err_set(err, ERR_CONFLICT, "its architecture is %s; only %s works with this server",
                       info->architecture, own.machine);
    return 0;
}

static void informed(void *ctx, const struct engine_reply *r)
{
    struct docker_node *n = ctx;
    struct err err;
    if (!succeeded(n, r, &err))
        return;
    if (answer_read_info(r->body, r->n, &n->has, &err) < 0 ||
        check_architecture(&n->has, &err) < 0) {
        fail(n, &err);
        return;
    }
    hear_events(n);
    list_containers(n);
}

static void versioned(void *ctx, const struct engine_reply *r)
{
    struct docker_node *n = ctx;
    struct answer_version v;
    struct err err;
    if (!succeeded(n, r, &err))
        return;
    if (answer_read_version(r->body, r->n, &v, &err) < 0 || engine_agree(n->engine, &v, &err) < 0)
        fail(n, &err);
    else
        ask(n, "/info", informed, false);
}

static void pinged(void *ctx, const struct engine_reply *r)
{
    struct docker_node *n = ctx;
    struct err err;
    if (succeeded(n, r, &err))
        n->at = docker_now(n->runtime) + PING_EVERY;
}

usec_t node_due(const struct docker_node *n)
{
    return n->call ? USEC_NEVER : n->at;
}

void node_turn(struct docker_node *n, usec_t now)
{
    (void)now;
    if (n->connected)
        ask(n, "/_ping", pinged, true);
    else
        ask(n, "/version", versioned, true);
}

/* ---- life
 * ------------------------------------------------------------------------------------------ */

int node_attach(struct runtime *r, const struct runtime_engine *e, struct err *err)
{
    struct docker_node *n = xcalloc(1, sizeof *n);
    struct endpoint_context context;
    struct endpoint at;
    struct arena *a = &n->arena;
    struct str socket = {0};
    str_addf(&socket, "%s/docker-%s.sock", r->host->run_dir, e->name);
    endpoint_context_read(a, &context);
    int rc = endpoint_resolve(e->address, e->tls, &context, a, &at, err);
    if (rc == 0)
        rc = engine_create(r->curl, r->host->loop, &at, socket.at, &n->engine, err);
    str_done(&socket);
    if (rc < 0) {
        arena_done(a);
        free(n);
        return -1;
    }
    n->runtime = r;
    n->wanted = *e;
    n->wanted.name = arena_strdup(a, e->name);
    n->wanted.gpu_type = e->gpu_type ? arena_strdup(a, e->gpu_type) : NULL;
    n->lost = true;
    n->pause = PAUSE_FIRST;
    n->heard = docker_now(r);
    VEC_PUSH(&r->nodes, n);
    report(n, false);
    return 0;
}

void node_free(struct docker_node *n)
{
    end_calls(n);
    str_done(&n->line);
    engine_free(n->engine);
    arena_done(&n->arena);
    free(n);
}

void node_detach(struct runtime *r, const char *name)
{
    size_t i = 0;
    while (strcmp(r->nodes.at[i]->wanted.name, name) != 0)
        i++;
    struct docker_node *n = r->nodes.at[i];
    r->nodes.at[i] = r->nodes.at[--r->nodes.n];
    report(n, true);
    node_free(n);
}
