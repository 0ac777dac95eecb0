/* Owns the course of operations: each is a chain of requests to the engine within the operation's
 * deadline. Resizing, freezing and cleaning up are done here. */
#include "runtime/docker/operations.h"

#include <stdio.h>
#include <string.h>

#include "runtime/docker/container.h"
#include "runtime/docker/node.h"
#include "runtime/docker/settle.h"
#include "runtime/docker/start.h"

/* The engine answers each of these in much less; the deadline of the operation is what counts. */
#define CALL_LIMIT (60 * USEC_PER_SEC)

void docker_complete(struct docker_attempt *a, const struct err *err)
{
    struct runtime_op *op = a->op;
    struct runtime_host *h = a->node->runtime->host;
    start_done(a->start);
    a->start = NULL;
    a->op = NULL;
    op->err = (struct err){.code = ERR_OK};
    if (err && err->code != ERR_OK) {
        op->err = *err;
        err_prefix(&op->err, "%s", a->node->wanted.name);
    }
    runtime_complete(h, op);
}

void docker_ask(struct docker_attempt *a, struct engine_request *q)
{
    usec_t left = a->op->deadline - docker_now(a->node->runtime);
    struct err err;
    if (left <= 0) {
        err_set(&err, ERR_UNREACHABLE, "the engine does not answer in time");
        docker_complete(a, &err);
        return;
    }
    q->limit = q->limit == USEC_NEVER ? USEC_NEVER : left < CALL_LIMIT ? left : CALL_LIMIT;
    q->ctx = a;
    a->call = engine_ask(a->node->engine, q);
}

bool docker_succeeded(struct docker_attempt *a, const struct call_reply *r)
{
    struct err err;
    a->call = NULL;
    if (engine_check(r, &err) == 0)
        return true;
    docker_complete(a, &err);
    return false;
}

/* "/containers/NAME" and what follows. */
static void ask_container(struct docker_attempt *a, const char *method, const char *rest,
                          const char *body, void (*done)(void *ctx, const struct call_reply *r))
{
    struct str path = {0};
    str_addf(&path, "/containers/%s%s", a->name, rest);
    docker_ask(
        a, &(struct engine_request){.method = method, .path = path.at, .body = body, .done = done});
    str_done(&path);
}

/* ---- size and freezing -------------------------------------------------------------- */

static void resized(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    if (docker_succeeded(a, r))
        docker_complete(a, NULL);
}

/* An update can cut a container off from its GPUs, so one that has some keeps its limits. */
static void resize(struct docker_attempt *a)
{
    struct str body = {0}, path = {0};
    if (a->gpus) {
        docker_complete(a, NULL);
        return;
    }
    if (engine_is_podman(a->node->engine)) {
        container_add_podman_update(&a->op->size, node_cpus(a->node), &body);
        str_addf(&path, "/v4.0.0/libpod/containers/%s/update", a->name);
        docker_ask(a, &(struct engine_request){.method = "POST",
                                               .path = path.at,
                                               .body = body.at,
                                               .no_version = true,
                                               .done = resized});
    } else {
        container_add_update(&a->op->size, node_cpus(a->node), &body);
        ask_container(a, "POST", "/update", body.at, resized);
    }
    str_done(&path);
    str_done(&body);
}

/* An engine refuses to pause what is paused; that is as good as having done it. */
static void frozen(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    bool done = engine_check(r, &err) == 0 || strstr(err.text, "already paused") ||
                strstr(err.text, "is not paused");
    if (!done && strstr(err.text, "is not running"))
        err.code = ERR_NOT_FOUND;
    docker_complete(a, done ? NULL : &err);
}

static void freeze(struct docker_attempt *a)
{
    ask_container(a, "POST", a->op->frozen ? "/pause" : "/unpause", NULL, frozen);
}

/* ---- killing -------------------------------------------------------------------------- */

/* What does not run, or is not there, needs no killing. */
static bool is_dead(const struct call_reply *r)
{
    return r->err.code == ERR_OK && (r->status == 404 || r->status == 409);
}

static void ended(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    bool dead = is_dead(r) || engine_check(r, &err) == 0;
    docker_complete(a, dead ? NULL : &err);
}

static void killed(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (is_dead(r))
        docker_complete(a, NULL);
    else if (engine_check(r, &err) < 0)
        docker_complete(a, &err);
    else
        ask_container(a, "POST", "/wait?condition=not-running", NULL, ended);
}

static void kill_container(struct docker_attempt *a)
{
    ask_container(a, "POST", "/kill", NULL, killed);
}

/* ---- cleaning up ---------------------------------------------------------------------- */

static void cleaned(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (engine_check(r, &err) < 0 && err.code != ERR_NOT_FOUND) {
        docker_complete(a, &err);
        return;
    }
    relay_link_drop(&a->link);
    docker_complete(a, NULL);
    docker_forget(a);
}

static void clean(struct docker_attempt *a)
{
    ask_container(a, "DELETE", "?force=1&v=1", NULL, cleaned);
}

/* ---- all -------------------------------------------------------------------------------- */

void docker_begin(struct docker_attempt *a)
{
    switch (a->op->kind) {
    case OP_START:
        start_container(a);
        return;
    case OP_SETTLE:
        settle_container(a);
        return;
    case OP_RESIZE:
        resize(a);
        return;
    case OP_FREEZE:
        freeze(a);
        return;
    case OP_KILL:
        kill_container(a);
        return;
    case OP_CLEAN:
        break;
    }
    clean(a);
}
