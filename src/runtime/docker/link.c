/* Owns the links to conductors: each is an exec of the relay inside the container, whose standard
 * streams are connected with us by the engine (protocol/relay.h). A link that is lost is made
 * again, later and later, as long as it is wanted. */
#include "runtime/docker/link.h"

#include <string.h>

#include "protocol/relay.h"
#include "runtime/docker/container.h"
#include "runtime/docker/stream.h"

#define PAUSE_FIRST (USEC_PER_SEC / 5)
#define PAUSE_LONGEST (5 * USEC_PER_SEC)
#define CALL_LIMIT (30 * USEC_PER_SEC)

struct docker_link {
    struct runtime_link base;
    struct docker_attempt *attempt;
    struct stream *stream;
    struct relay in;
    struct arena arena; /* of the message that is being handled */
    bool heard;         /* it has said something */
    bool busy, ended;   /* a message is being handled; it was ended meanwhile */
};

/* ---- the end ----------------------------------------------------------------------------- */

static void free_link(struct docker_link *l)
{
    relay_done(&l->in);
    arena_done(&l->arena);
    free(l);
}

void link_end(struct docker_attempt *a)
{
    struct docker_link *l = a->link;
    engine_cancel(a->link_call);
    a->link_call = NULL;
    a->link_at = USEC_NEVER;
    if (!l)
        return;
    a->link = NULL;
    stream_close(l->stream);
    l->stream = NULL;
    l->ended = true;
    if (!l->busy)
        free_link(l);
}

void link_drop(struct docker_attempt *a)
{
    struct docker_link *l = a->link;
    struct runtime_host *h = a->node->runtime->host;
    if (l && l->heard)
        h->unlinked(h, &l->base);
    link_end(a);
}

void link_unlink(struct runtime *r, struct runtime_link *base)
{
    struct docker_link *l = (struct docker_link *)base;
    (void)r;
    link_end(l->attempt);
}

static void try_again(struct docker_attempt *a)
{
    usec_t pause = a->link_pause;
    link_drop(a);
    a->link_at = docker_now(a->node->runtime) + pause;
    a->link_pause = pause * 2 < PAUSE_LONGEST ? pause * 2 : PAUSE_LONGEST;
}

/* ---- what is said ------------------------------------------------------------------------- */

static void take_message(struct docker_link *l, const struct relay_item *item)
{
    struct runtime_host *h = l->base.runtime->host;
    struct to_server m;
    struct err err;
    arena_reset(&l->arena);
    if (to_server_decode(item->bytes, item->n, &l->arena, &m, &err) == 0) {
        l->heard = true;
        h->message(h, &l->base, &m);
    } else {
        try_again(l->attempt);
    }
}

static void take_log(struct docker_link *l, const struct relay_item *item)
{
    struct docker_attempt *a = l->attempt;
    struct runtime_host *h = l->base.runtime->host;
    a->log_offset = item->n ? item->offset + (int64_t)item->n : -1;
    h->log(h, a->id, item->offset, item->bytes, item->n);
}

/* The server may end the link, and forget the attempt, while it is told something. */
static void take_bytes(void *ctx, const char *bytes, size_t n)
{
    struct docker_link *l = ctx;
    struct relay_item item;
    int got = 0;
    relay_add(&l->in, bytes, n);
    l->busy = true;
    while (!l->ended && (got = relay_take(&l->in, &item)) > 0) {
        if (item.kind == RELAY_LOG)
            take_log(l, &item);
        else
            take_message(l, &item);
    }
    if (!l->ended && got < 0)
        try_again(l->attempt);
    l->busy = false;
    if (l->ended)
        free_link(l);
}

static void closed(void *ctx, const struct err *why)
{
    struct docker_link *l = ctx;
    (void)why; /* whoever looks at the container finds out */
    l->stream = NULL;
    try_again(l->attempt);
}

void link_send(struct runtime *r, struct runtime_link *base, const struct to_conductor *m)
{
    struct docker_link *l = (struct docker_link *)base;
    struct str line = {0};
    (void)r;
    to_conductor_encode(m, &line);
    if (l->stream)
        stream_send(l->stream, line.at, line.n);
    str_done(&line);
}

bool link_ask_log(struct docker_attempt *a)
{
    struct str line = {0};
    if (!a->link || !a->link->stream)
        return false;
    relay_add_log(&line, a->log_offset, 0);
    stream_send(a->link->stream, line.at, line.n);
    str_done(&line);
    return true;
}

/* ---- the beginning ------------------------------------------------------------------------ */

static void exec_created(void *ctx, const struct engine_reply *r)
{
    static const struct stream_user user = {take_bytes, closed};
    struct docker_attempt *a = ctx;
    char exec[CONTAINER_ID_SIZE];
    struct err err;
    a->link_call = NULL;
    if (engine_check(r, &err) < 0 || answer_read_id(r->body, r->n, exec, &err) < 0) {
        bool over = err.code == ERR_NOT_FOUND || err.code == ERR_CONFLICT;
        if (!over)
            try_again(a);
        return; /* one that does not run is wanted again when it is found running */
    }
    struct docker_link *l = xcalloc(1, sizeof *l);
    l->base.runtime = a->node->runtime;
    l->attempt = a;
    a->link = l;
    a->link_pause = PAUSE_FIRST;
    l->stream = stream_open(a->node->engine, exec, &user, l);
    if (a->log_offset >= 0)
        link_ask_log(a);
}

void link_turn(struct docker_attempt *a)
{
    static const char body[] =
        "{\"AttachStdin\":true,\"AttachStdout\":true,\"AttachStderr\":true,"
        "\"Cmd\":[\"" CONTAINER_CONDUCTOR "\",\"link\",\"" CONTAINER_ATTEMPT "\"]}";
    struct str path = {0};
    a->link_at = USEC_NEVER;
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

void link_want(struct docker_attempt *a)
{
    if (a->link || a->link_call || a->link_at != USEC_NEVER)
        return;
    a->link_at = 0;
    a->link_pause = PAUSE_FIRST;
}

usec_t link_due(const struct docker_attempt *a)
{
    return a->link_at;
}
