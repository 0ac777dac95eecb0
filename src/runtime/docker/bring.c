/* Owns copies of checkpoints from one engine to another, through both archive APIs.
 *
 * On the source, a container that never runs gives access to the volume: the container of the
 * earlier attempt may be gone. What its archive sends is passed on to the archive of the new
 * container as it comes, with at most PENDING_MOST bytes in between, so the size of a checkpoint
 * does not matter. */
#include "runtime/docker/bring.h"

#include <stdio.h>
#include <string.h>

#include "runtime/docker/container.h"

#define CALL_LIMIT (60 * USEC_PER_SEC)
/* Nothing has come for this long: the copy has failed. */
#define STALL_LIMIT (60 * USEC_PER_SEC)
#define NEWS_EVERY USEC_PER_SEC
enum { PENDING_MOST = 8 << 20, PENDING_LOW = 2 << 20 };

struct bring {
    struct docker_attempt *a;
    struct bring_request request;
    struct docker_node *from;
    char reader[120]; /* name of the container on the source */
    struct call *prepare, *get, *put;
    struct str pending;          /* received and not passed on yet, */
    size_t passed;               /* but for so many */
    int64_t bytes, given, moved; /* received; passed on; both, when that was last looked at */
    bool got_all, get_waits, put_waits;
    usec_t moved_at, told_at; /* when bytes came last; when the user was told of them */
    struct err err;           /* ERR_OK = none yet */
    bool over;
};

/* ---- the end ---------------------------------------------------------------------------- */

static void ignore(void *ctx, const struct call_reply *r)
{
    (void)ctx;
    (void)r;
}

static void remove_reader(const struct bring *b)
{
    struct str path = {0};
    str_addf(&path, "/containers/%s?force=1", b->reader);
    struct engine_request q = {
        .method = "DELETE", .path = path.at, .limit = CALL_LIMIT, .done = ignore};
    engine_ask(b->from->engine, &q);
    str_done(&path);
}

void bring_cancel(struct bring *b)
{
    if (!b)
        return;
    call_cancel(b->prepare);
    call_cancel(b->get);
    call_cancel(b->put);
    if (b->from)
        remove_reader(b);
    str_done(&b->pending);
    free(b);
}

/* The caller is told in the next turn. */
static void end(struct bring *b, const struct err *err)
{
    if (b->over)
        return;
    b->over = true;
    if (err)
        b->err = *err;
}

void bring_lose(struct bring *b, const struct docker_node *n)
{
    struct err err;
    if (!b || b->from != n)
        return;
    b->prepare = b->get = NULL; /* they end with their engine */
    b->from = NULL;
    err_set(&err, ERR_UNREACHABLE, "the node with its checkpoints was removed");
    end(b, &err);
}

/* ---- passing on ------------------------------------------------------------------------- */

static bool is_full(void *ctx)
{
    struct bring *b = ctx;
    b->get_waits = b->pending.n - b->passed > PENDING_MOST;
    return b->get_waits;
}

static void take_bytes(void *ctx, const char *bytes, size_t n)
{
    struct bring *b = ctx;
    str_add_n(&b->pending, bytes, n);
    b->bytes += (int64_t)n;
}

static size_t give_bytes(void *ctx, char *bytes, size_t n)
{
    struct bring *b = ctx;
    size_t left = b->pending.n - b->passed;
    if (!left) {
        b->put_waits = !b->got_all;
        return b->got_all ? 0 : CALL_LATER;
    }
    n = n < left ? n : left;
    memcpy(bytes, b->pending.at + b->passed, n);
    b->passed += n;
    b->given += (int64_t)n;
    if (b->passed == b->pending.n)
        b->pending.n = b->passed = 0;
    return n;
}

static void got(void *ctx, const struct call_reply *r)
{
    struct bring *b = ctx;
    struct err err;
    b->get = NULL;
    if (engine_check(r, &err) < 0) {
        err_prefix(&err, "%s", b->request.from);
        end(b, &err);
    }
    b->got_all = true;
}

static void put(void *ctx, const struct call_reply *r)
{
    struct bring *b = ctx;
    struct err err;
    b->put = NULL;
    int rc = engine_check(r, &err);
    if (rc == 0 && !b->got_all)
        rc = err_set(&err, ERR_IO, "the engine accepted only part of the checkpoint");
    end(b, rc < 0 ? &err : NULL);
}

static void begin_copy(struct bring *b)
{
    struct str from = {0}, to = {0};
    str_addf(&from, "/containers/%s/archive?path=%s/.", b->reader, b->request.checkpoints);
    str_addf(&to, "/containers/%s/archive?path=%s", b->a->container, b->request.checkpoints);
    b->get = engine_ask(b->from->engine, &(struct engine_request){.method = "GET",
                                                                  .path = from.at,
                                                                  .limit = USEC_NEVER,
                                                                  .bytes = take_bytes,
                                                                  .full = is_full,
                                                                  .done = got,
                                                                  .ctx = b});
    b->put = engine_ask(b->a->node->engine, &(struct engine_request){.method = "PUT",
                                                                     .path = to.at,
                                                                     .type = "application/x-tar",
                                                                     .limit = USEC_NEVER,
                                                                     .source = give_bytes,
                                                                     .done = put,
                                                                     .ctx = b});
    str_done(&from);
    str_done(&to);
}

/* ---- the beginning ----------------------------------------------------------------------- */

static void reader_created(void *ctx, const struct call_reply *r)
{
    struct bring *b = ctx;
    struct err err;
    b->prepare = NULL;
    if (engine_check(r, &err) < 0) {
        err_prefix(&err, "%s", b->request.from);
        end(b, &err);
        return;
    }
    begin_copy(b);
}

static void create_reader(struct bring *b)
{
    struct str path = {0}, body = {0};
    str_addf(&path, "/containers/create?name=%s", b->reader);
    container_add_reader(b->from->runtime->yard, b->a->id.job, b->request.image, b->request.volume,
                         b->request.checkpoints, &body);
    b->prepare = engine_ask(b->from->engine, &(struct engine_request){.method = "POST",
                                                                      .path = path.at,
                                                                      .body = body.at,
                                                                      .limit = CALL_LIMIT,
                                                                      .done = reader_created,
                                                                      .ctx = b});
    str_done(&path);
    str_done(&body);
}

/* A volume that is not there would be made by the engine, and an empty one be brought. */
static void volume_found(void *ctx, const struct call_reply *r)
{
    struct bring *b = ctx;
    struct err err;
    b->prepare = NULL;
    if (r->err.code == ERR_OK && r->status == 404) {
        end(b, NULL); /* the job never had any */
    } else if (engine_check(r, &err) < 0) {
        err_prefix(&err, "%s", b->request.from);
        end(b, &err);
    } else {
        create_reader(b);
    }
}

static struct docker_node *find_node(const struct runtime *r, const char *name)
{
    for (size_t i = 0; i < r->nodes.n; i++)
        if (!strcmp(r->nodes.at[i]->wanted.name, name))
            return r->nodes.at[i];
    return NULL;
}

void bring_remove_source(struct docker_attempt *a, const char *node, const char *volume)
{
    struct docker_node *from = find_node(a->node->runtime, node);
    struct str path = {0};
    if (!from || !from->connected)
        return;
    str_addf(&path, "/volumes/%s", volume);
    engine_ask(from->engine,
               &(struct engine_request){
                   .method = "DELETE", .path = path.at, .limit = CALL_LIMIT, .done = ignore});
    str_done(&path);
}

struct bring *bring_begin(struct docker_attempt *a, const struct bring_request *request)
{
    struct bring *b = xcalloc(1, sizeof *b);
    struct runtime *r = a->node->runtime;
    struct err err;
    b->a = a;
    b->request = *request;
    b->moved_at = b->told_at = docker_now(r);
    snprintf(b->reader, sizeof b->reader, "%s-copy", a->name);
    b->from = find_node(r, request->from);
    if (!b->from || !b->from->connected) {
        err_set(&err, ERR_UNREACHABLE, "its checkpoints are on %s, which is not connected",
                request->from);
        b->from = NULL;
        end(b, &err);
        return b;
    }
    struct str path = {0};
    str_addf(&path, "/volumes/%s", request->volume);
    b->prepare = engine_ask(
        b->from->engine,
        &(struct engine_request){
            .method = "GET", .path = path.at, .limit = CALL_LIMIT, .done = volume_found, .ctx = b});
    str_done(&path);
    return b;
}

/* ---- time ---------------------------------------------------------------------------------- */

static bool can_get(const struct bring *b)
{
    return b->get && b->get_waits && b->pending.n - b->passed < PENDING_LOW;
}

static bool can_put(const struct bring *b)
{
    return b->put && b->put_waits && (b->pending.n > b->passed || b->got_all);
}

usec_t bring_due(const struct bring *b)
{
    if (b->over || can_get(b) || can_put(b))
        return 0;
    return b->told_at + NEWS_EVERY;
}

static void tell(struct bring *b, usec_t now)
{
    struct runtime_host *h = b->a->node->runtime->host;
    struct str text = {0};
    str_addf(&text, "copying its checkpoints from %s: %.1f MB so far", b->request.from,
             (double)b->bytes / 1e6);
    h->waits(h, b->a->id, text.at);
    str_done(&text);
    b->told_at = now;
}

void bring_turn(struct bring *b, usec_t now)
{
    struct docker_attempt *a = b->a;
    struct runtime_host *h = a->node->runtime->host;
    struct err err;
    if (!b->over && can_get(b)) {
        b->get_waits = false;
        call_resume(b->get);
    }
    if (!b->over && can_put(b)) {
        b->put_waits = false;
        call_resume(b->put);
    }
    if (now >= b->told_at + NEWS_EVERY)
        tell(b, now);
    if (b->bytes + b->given != b->moved) {
        b->moved = b->bytes + b->given;
        b->moved_at = now;
    }
    if (now - b->moved_at > STALL_LIMIT && !b->over) {
        err_set(&err, ERR_UNREACHABLE, "the copy of its checkpoints from %s has stalled",
                b->request.from);
        end(b, &err);
    }
    if (!b->over)
        return;
    void (*done)(struct docker_attempt *, const struct err *) = b->request.done;
    err = b->err;
    h->waits(h, a->id, NULL);
    done(a, err.code == ERR_OK ? NULL : &err);
}
