/* Owns the connection to an engine: which version of its API to speak, what the machine has, which
 * containers of ours are there, and a stream of what happens to them.
 *
 * The stream is begun before containers are listed, so nothing is missed between the two. When it
 * ends, or the engine does not answer, all that is done again. An engine is asked for a sign of
 * life several times within the time after which it is suspect. A node that is lost has no links:
 * a connection that nothing comes through any more may look fine for a long time. */
#include "runtime/docker/node.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "runtime/docker/bring.h"
#include "runtime/docker/container.h"
#include "runtime/docker/start.h"

#define PING_LEAST USEC_PER_SEC
#define PING_MOST (10 * USEC_PER_SEC)
#define CALL_LIMIT (10 * USEC_PER_SEC)
#define PAUSE_FIRST (USEC_PER_SEC / 2)
#define PAUSE_LONGEST (15 * USEC_PER_SEC)
#define NO_GPUS                                                                                    \
    "its GPUs are not used: the engine has no driver for them; install NVIDIA's container "        \
    "toolkit "                                                                                     \
    "and restart the engine"
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
    const char *notice = engine_notice(n->engine);
    struct runtime_node node = {
        .name = w->name,
        .suspect = n->suspect,
        .lost = n->lost,
        .here = n->here,
        .gone = gone,
        .cpus = w->cpus ? w->cpus : node_cpus(n),
        .gpus = n->no_gpus ? 0 : w->gpus,
        .gpu_type = w->gpu_type,
        .memory_mb = w->memory_mb ? w->memory_mb : n->has.memory_mb,
        .host = w->host,
        .notice = *n->trouble  ? n->trouble
                  : n->no_gpus ? NO_GPUS
                  : *notice    ? notice
                               : NULL,
    };
    h->node(h, n->runtime, &node);
}

void node_lose_gpus(struct docker_node *n)
{
    if (n->no_gpus)
        return;
    n->no_gpus = true;
    report(n, false);
}

static void end_calls(struct docker_node *n)
{
    call_cancel(n->call);
    call_cancel(n->events);
    n->call = n->events = NULL;
    n->line.n = 0;
    n->connected = false;
}

static usec_t ping_every(const struct docker_node *n)
{
    usec_t third = n->runtime->suspect_after / 3;
    return third < PING_LEAST ? PING_LEAST : third < PING_MOST ? third : PING_MOST;
}

/* Nothing that goes through a lost node has an end: a copy to an engine that hangs would wait. */
static void drop_links(struct docker_node *n)
{
    const struct runtime *r = n->runtime;
    for (size_t i = 0; i < r->attempts.n; i++) {
        struct docker_attempt *a = r->attempts.at[i];
        if (a->node != n)
            continue;
        relay_link_drop(&a->link);
        if (a->start)
            start_abort(a);
    }
}

/* How long it has been silent decides what it is; true if that is something else now. */
static bool follow_silence(struct docker_node *n, usec_t now)
{
    bool was_suspect = n->suspect, was_lost = n->lost;
    n->suspect |= now - n->heard >= n->runtime->suspect_after;
    n->lost |= now - n->heard >= n->runtime->lost_after;
    if (n->lost && !was_lost)
        drop_links(n);
    return n->suspect != was_suspect || n->lost != was_lost;
}

/* When it becomes suspect or lost if nothing is heard. */
static usec_t silence_due(const struct docker_node *n)
{
    return n->lost      ? USEC_NEVER
           : n->suspect ? n->heard + n->runtime->lost_after
                        : n->heard + n->runtime->suspect_after;
}

/* Tries again with back-off; the node is lost if that has lasted for long. */
static void fail(struct docker_node *n, const struct err *why)
{
    usec_t now = docker_now(n->runtime);
    bool same = !strcmp(n->trouble, why->text);
    end_calls(n);
    n->at = now + n->pause;
    n->pause = n->pause * 2 < PAUSE_LONGEST ? n->pause * 2 : PAUSE_LONGEST;
    bool changed = follow_silence(n, now);
    snprintf(n->trouble, sizeof n->trouble, "%.*s", (int)sizeof n->trouble - 1, why->text);
    if (changed || !same)
        report(n, false);
}

/* Whether the reply is a success; the connection has failed otherwise. */
static bool succeeded(struct docker_node *n, const struct call_reply *r, struct err *err)
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
                void (*done)(void *ctx, const struct call_reply *r), bool no_version)
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

static void ignore(void *ctx, const struct call_reply *r)
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
    struct docker_attempt *a =
        docker_find(n->runtime, (struct attempt_id){c->job, c->attempt, c->part});
    if (a) {
        a->gpus |= c->gpus;
        n->gpus_used |= c->gpus;
    }
    if (!a && n->runtime->swept)
        remove_container(n, c->id);
    else if (a && c->state == CONTAINER_ENDED)
        a->died = true;
    else if (a && c->state == CONTAINER_RUNNING)
        relay_link_want(&a->link);
}

static void listed(void *ctx, const struct call_reply *r)
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
    n->suspect = n->lost = false;
    n->pause = PAUSE_FIRST;
    n->at = docker_now(n->runtime) + ping_every(n);
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

/* ---- events ----------------------------------------------------------------------------- */

static void take_event(struct docker_node *n)
{
    struct answer_ours c;
    if (answer_read_event(n->line.at, n->line.n, &c) != 1 || !c.died)
        return;
    struct docker_attempt *a =
        docker_find(n->runtime, (struct attempt_id){c.job, c.attempt, c.part});
    if (a)
        a->died = true;
}

/* Only notes what has happened: libcurl is in the middle of a transfer. */
static void take_events(void *ctx, const char *bytes, size_t n)
{
    struct docker_node *node = ctx;
    node->heard = docker_now(node->runtime);
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

static void events_ended(void *ctx, const struct call_reply *r)
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

/* ---- connecting ------------------------------------------------------------------------- */

/* Podman says what Go calls it, Docker what the kernel does. */
static const char *kernel_name(const char *architecture)
{
    return !strcmp(architecture, "amd64")   ? "x86_64"
           : !strcmp(architecture, "arm64") ? "aarch64"
                                            : architecture;
}

/* Our conductor is a program for this machine. */
static int check_architecture(const struct answer_info *info, struct err *err)
{
    struct utsname own;
    if (uname(&own) == 0 && *info->architecture &&
        strcmp(own.machine, kernel_name(info->architecture)) != 0)
        return err_set(err, ERR_CONFLICT, "its architecture is %s; only %s works with this server",
                       info->architecture, own.machine);
    return 0;
}

static void informed(void *ctx, const struct call_reply *r)
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
    n->no_gpus = false; /* it may have been restarted, with a driver */
    hear_events(n);
    list_containers(n);
}

static void versioned(void *ctx, const struct call_reply *r)
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

static void pinged(void *ctx, const struct call_reply *r)
{
    struct docker_node *n = ctx;
    struct err err;
    if (!succeeded(n, r, &err))
        return;
    n->at = docker_now(n->runtime) + ping_every(n);
    if (n->lost) { /* what has happened meanwhile is found out as at the first time */
        end_calls(n);
        n->at = docker_now(n->runtime);
    } else if (n->suspect) {
        n->suspect = false;
        report(n, false);
    }
}

usec_t node_due(const struct docker_node *n)
{
    usec_t silent = silence_due(n), at = n->call || n->preparing ? USEC_NEVER : n->at;
    return at < silent ? at : silent;
}

static void prepared(void *ctx, const struct err *err)
{
    struct docker_node *n = ctx;
    n->preparing = false;
    if (err->code == ERR_OK)
        ask(n, "/version", versioned, true);
    else
        fail(n, err);
}

void node_turn(struct docker_node *n, usec_t now)
{
    if (silence_due(n) <= now && follow_silence(n, now))
        report(n, false);
    if (n->call || n->preparing || n->at > now)
        return;
    if (n->connected)
        ask(n, "/_ping", pinged, true);
    else if (engine_prepare(n->engine, prepared, n))
        n->preparing = true;
    else
        prepared(n, &(struct err){.code = ERR_OK});
}

/* ---- life ------------------------------------------------------------------------------- */

int node_attach(struct runtime *r, const struct runtime_engine *e, struct err *err)
{
    if (e->gpus > (units_t)CONTAINER_GPUS_MAX * UNIT)
        return err_set(err, ERR_INVALID, "gpus: a node has at most %d", CONTAINER_GPUS_MAX);
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
    n->wanted.host = endpoint_machine(&at, a);
    n->here = at.kind == ENDPOINT_UNIX;
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
    for (size_t k = 0; k < r->attempts.n; k++)
        bring_lose(start_bring(r->attempts.at[k]), n);
    report(n, true);
    node_free(n);
}
