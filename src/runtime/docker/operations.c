/* Owns the course of operations: each is a chain of requests to the engine within the operation's
 * deadline. Resizing, freezing and cleaning up are done here. */
#include "runtime/docker/operations.h"

#include <stdio.h>
#include <string.h>

#include "runtime/docker/container.h"
#include "runtime/docker/link.h"
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

bool docker_succeeded(struct docker_attempt *a, const struct engine_reply *r)
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
                          const char *body, void (*done)(void *ctx, const struct engine_reply *r))
{
    struct str path = {0};
    str_addf(&path, "/containers/%s%s", a->name, rest);
    docker_ask(
        a, &(struct engine_request){.method = method, .path = path.at, .body = body, .done = done});
    str_done(&path);
}

/* ---- size and freezing -------------------------------------------------------------- */

static void resized(void *ctx, const struct engine_reply *r)
{
    struct docker_attempt *a = ctx;
    if (docker_succeeded(a, r))
        docker_complete(a, NULL);
}

/* An update can cut a container off from its GPUs, so one that has some keeps its limits. */
static void resize(struct docker_attempt *a)
{
    struct str body = {0};
    if (a->gpus) {
        docker_complete(a, NULL);
        return;
    }
    container_add_update(&a->op->size, node_cpus(a->node), &body);
    ask_container(a, "POST", "/update", body.at, resized);
    str_done(&body);
}

/* An engine refuses to pause what is paused; that is as good as having done it. */
static void frozen(void *ctx, const struct engine_reply *r)
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

/* ---- cleaning up ---------------------------------------------------------------------- */

static void cleaned(void *ctx, const struct engine_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (engine_check(r, &err) < 0 && err.code != ERR_NOT_FOUND) {
        docker_complete(a, &err);
        return;
    }
    link_drop(a);
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
    case OP_CLEAN:
        break;
    }
    clean(a);
}
