/* Owns the connections to conductors: each is an exec of the relay inside the container. */
#include "runtime/docker/link.h"

#include "runtime/docker/container.h"
#include "runtime/docker/stream.h"

#define CALL_LIMIT (30 * USEC_PER_SEC)

static void take_bytes(void *ctx, const char *bytes, size_t n)
{
    struct docker_attempt *a = ctx;
    relay_link_take(&a->link, bytes, n);
}

static void closed(void *ctx, const struct err *why)
{
    struct docker_attempt *a = ctx;
    (void)why; /* whoever looks at the container finds out */
    a->link_stream = NULL;
    relay_link_closed(&a->link, true);
}

static void exec_created(void *ctx, const struct call_reply *r)
{
    static const struct stream_user user = {take_bytes, closed};
    struct docker_attempt *a = ctx;
    char exec[CONTAINER_ID_SIZE];
    struct err err;
    a->link_call = NULL;
    if (engine_check(r, &err) < 0 || answer_read_id(r->body, r->n, exec, &err) < 0) {
        /* One that does not run is wanted again when it is found running. */
        bool over = err.code == ERR_NOT_FOUND || err.code == ERR_CONFLICT;
        relay_link_closed(&a->link, !over);
        return;
    }
    a->link_stream = stream_open(a->node->engine, exec, &user, a);
    relay_link_opened(&a->link);
}

static void link_connect(void *ctx)
{
    static const char body[] =
        "{\"AttachStdin\":true,\"AttachStdout\":true,\"AttachStderr\":true,"
        "\"Cmd\":[\"" CONTAINER_CONDUCTOR "\",\"link\",\"" CONTAINER_ATTEMPT "\"]}";
    struct docker_attempt *a = ctx;
    struct str path = {0};
    str_addf(&path, "/containers/%s/exec", a->name);
    struct engine_request q = {.method = "POST",
                               .path = path.at,
                               .body = body,
                               .limit = CALL_LIMIT,
                               .done = exec_created,
                               .ctx = a};
    a->link_call = engine_ask(a->node->engine, &q);
    str_done(&path);
}

static void link_write(void *ctx, const char *bytes, size_t n)
{
    const struct docker_attempt *a = ctx;
    stream_send(a->link_stream, bytes, n);
}

static void link_hang_up(void *ctx)
{
    struct docker_attempt *a = ctx;
    call_cancel(a->link_call);
    stream_close(a->link_stream);
    a->link_call = NULL;
    a->link_stream = NULL;
}

void link_init(struct docker_attempt *a)
{
    static const struct relay_link_ops ops = {link_connect, link_write, link_hang_up};
    struct runtime *r = a->node->runtime;
    relay_link_init(&a->link, &ops, a, r, r->host, a->id);
}
