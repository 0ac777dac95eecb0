/* Owns the connections of conductors: accepting them, splitting them into lines, ending
 * them. The server decides who speaks for which attempt.
 *
 * A conductor whose end was acknowledged is idle for a moment. When it is given another
 * attempt, its connection is as good as a new one: the next message on it is a hello. */
#include "runtime/local/links.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/str.h"
#include "protocol/lines.h"
#include "runtime/local/local.h"
#include "runtime/local/spawn.h"

/* Connections that have not said hello; one that is new ends the oldest of them. Conductors say
 * it at once. */
enum { STRANGERS = 128 };

/* How long a conductor is idle before it is let go, and the version of the protocol from
 * which on it can be. */
enum { IDLE_MS = 1000, CAN_STAY = 2 };

struct link {
    struct runtime_link base;
    uv_pipe_t pipe;
    struct links *owner;
    struct link *prev, *next;
    struct lines in;
    int32_t version; /* as its hello said */
    int64_t pid;
    bool idle;
    uint64_t idle_since; /* by the loop's clock */
    char *given;         /* directory of an attempt for which it has not said hello yet */
    bool closing;
};

struct links {
    uv_pipe_t *listener;
    dev_t dev;             /* of its file, */
    ino_t ino;             /* as it was made */
    uv_timer_t idle_timer; /* to let conductors go */
    struct runtime *runtime;
    struct link *first;
    struct arena arena; /* of the message that is being handled */
    char buffer[MESSAGE_MAX_BYTES];
};

/* ---- one connection ------------------------------------------------------------ */

static void free_link(uv_handle_t *handle)
{
    struct link *link = handle->data;
    lines_done(&link->in);
    free(link->given);
    free(link);
}

static void end_link(struct link *link)
{
    if (link->closing)
        return;
    link->closing = true;
    *(link->prev ? &link->prev->next : &link->owner->first) = link->next;
    if (link->next)
        link->next->prev = link->prev;
    uv_close((uv_handle_t *)&link->pipe, free_link);
}

/* The other side is gone, or does not behave. An attempt that it was given may not have
 * begun: if it has, its claim stops the second conductor. */
static void lose_link(struct link *link)
{
    if (link->closing)
        return; /* its owner may be gone */
    const struct runtime *r = link->owner->runtime;
    struct err err; /* the server looks for an attempt that does not answer */
    int64_t pid;
    if (link->given)
        spawn_detached(r->conductor, link->given, r->host->job_descriptors, &pid, &err);
    end_link(link);
    r->host->unlinked(r->host, &link->base);
}

void links_unlink(struct runtime *r, struct runtime_link *link)
{
    (void)r;
    end_link((struct link *)link);
}

struct outgoing {
    uv_write_t request;
    struct str line;
};

static void written(uv_write_t *request, int status)
{
    struct outgoing *out = request->data;
    struct link *link = request->handle->data;
    str_done(&out->line);
    free(out);
    if (status < 0 && status != UV_ECANCELED)
        lose_link(link);
}

static void send_message(struct link *link, const struct to_conductor *m)
{
    if (link->closing)
        return;
    struct outgoing *out = xcalloc(1, sizeof *out);
    to_conductor_encode(m, &out->line);
    out->request.data = out;
    uv_buf_t buf = uv_buf_init(out->line.at, (unsigned)out->line.n);
    /* One that cannot be written is noticed when it is read from. */
    if (uv_write(&out->request, (uv_stream_t *)&link->pipe, &buf, 1, written) < 0) {
        str_done(&out->line);
        free(out);
    }
}

static void refuse(struct link *link, const char *text)
{
    struct to_conductor m = {.kind = TO_CONDUCTOR_REFUSED, .id = -1, .refused = {text}};
    send_message(link, &m);
}

/* ---- conductors without an attempt -------------------------------------------- */

static void end_idle(uv_timer_t *timer)
{
    struct links *l = timer->data;
    uint64_t now = uv_now(timer->loop), first = UINT64_MAX;
    for (struct link *link = l->first, *next; link; link = next) {
        next = link->next;
        if (!link->idle)
            continue;
        uint64_t until = link->idle_since + IDLE_MS;
        if (until <= now)
            end_link(link);
        else if (until < first)
            first = until;
    }
    if (first != UINT64_MAX)
        uv_timer_start(timer, end_idle, first - now, 0);
}

static void keep_idle(struct link *link)
{
    uv_timer_t *timer = &link->owner->idle_timer;
    link->idle = true;
    link->idle_since = uv_now(timer->loop);
    if (!uv_is_active((uv_handle_t *)timer))
        uv_timer_start(timer, end_idle, IDLE_MS, 0);
}

void links_send(struct runtime *r, struct runtime_link *base, const struct to_conductor *m)
{
    struct link *link = (struct link *)base;
    struct to_conductor ack = *m;
    (void)r;
    if (m->kind != TO_CONDUCTOR_ACK || link->version < CAN_STAY) {
        send_message(link, m);
        return;
    }
    ack.ack.stay = true;
    send_message(link, &ack);
    keep_idle(link);
}

bool links_give(struct links *l, const char *dir, int64_t *pid)
{
    struct to_conductor m = {.kind = TO_CONDUCTOR_NEXT, .id = -1, .next = {dir}};
    struct link *link = l ? l->first : NULL;
    while (link && !link->idle)
        link = link->next;
    if (!link)
        return false;
    link->idle = false;
    link->given = xstrdup(dir);
    link->base.user = NULL;
    *pid = link->pid;
    send_message(link, &m);
    return true;
}

/* ---- what they say ------------------------------------------------------------- */

static void take_hello(struct link *link, const struct hello_message *m)
{
    link->version = m->version;
    link->pid = m->pid;
    free(link->given);
    link->given = NULL;
}

static void take_line(struct link *link, const char *line, size_t n)
{
    struct links *l = link->owner;
    struct runtime_host *h = l->runtime->host;
    struct to_server m;
    struct err err;
    arena_reset(&l->arena);
    if (to_server_decode(line, n, &l->arena, &m, &err) == 0) {
        if (m.kind == TO_SERVER_HELLO)
            take_hello(link, &m.hello);
        h->message(h, &link->base, &m);
        return;
    }
    refuse(link, err.text);
    lose_link(link);
}

static void take_bytes(struct link *link, const char *bytes, size_t n)
{
    const char *line;
    size_t length;
    int got = 0;
    lines_add(&link->in, bytes, n);
    while (!link->closing && (got = lines_take(&link->in, &line, &length)) > 0)
        take_line(link, line, length);
    if (got < 0) {
        refuse(link, "a line is too long");
        lose_link(link);
    }
}

/* ---- all of them --------------------------------------------------------------- */

static void give_buffer(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
    struct link *link = handle->data;
    (void)hint;
    *buf = uv_buf_init(link->owner->buffer, sizeof link->owner->buffer);
}

static void take_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct link *link = stream->data;
    if (n < 0)
        lose_link(link);
    else if (n > 0)
        take_bytes(link, buf->base, (size_t)n);
}

/* Whoever can reach the socket can connect, a job as well. */
static void make_room(struct links *l)
{
    struct link *oldest = NULL;
    unsigned n = 0;
    for (struct link *link = l->first; link; link = link->next)
        if (!link->version) {
            oldest = link;
            n++;
        }
    if (n >= STRANGERS)
        end_link(oldest);
}

static void accept_link(uv_stream_t *listener, int status)
{
    struct links *l = listener->data;
    if (status < 0)
        return;
    make_room(l);
    struct link *link = xcalloc(1, sizeof *link);
    link->base.runtime = l->runtime;
    link->owner = l;
    link->pipe.data = link;
    uv_pipe_init(listener->loop, &link->pipe, 0);
    link->next = l->first;
    if (l->first)
        l->first->prev = link;
    l->first = link;
    if (uv_accept(listener, (uv_stream_t *)&link->pipe) < 0 ||
        uv_read_start((uv_stream_t *)&link->pipe, give_buffer, take_read) < 0)
        end_link(link);
}

static void free_links(uv_handle_t *idle_timer)
{
    struct links *l = idle_timer->data;
    arena_done(&l->arena);
    free(l);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

/* Libuv removes the file as well. */
static void close_listener(struct links *l)
{
    if (l->listener)
        uv_close((uv_handle_t *)l->listener, free_handle);
    l->listener = NULL;
}

/* Libuv would cut off what is too long, and bind another name. */
static int check_path(const char *path, struct err *err)
{
    const size_t most = sizeof((struct sockaddr_un *)0)->sun_path - 1;
    if (strlen(path) <= most)
        return 0;
    return err_set(err, ERR_LIMIT,
                   "a socket's path may have %zu bytes; choose a shorter run directory than that "
                   "of %s",
                   most, path);
}

/* The file is for its owner alone, from the first moment on. */
static int bind_listener(uv_pipe_t *listener, const char *path)
{
    unlink(path);
    mode_t mask = umask(0177);
    int rc = uv_pipe_bind(listener, path);
    umask(mask);
    return rc < 0 ? rc : uv_listen((uv_stream_t *)listener, 128, accept_link);
}

static int open_listener(struct links *l, const char *path, struct err *err)
{
    struct stat st;
    close_listener(l);
    l->listener = xcalloc(1, sizeof *l->listener);
    l->listener->data = l;
    uv_pipe_init(l->runtime->host->loop, l->listener, 0);
    int rc = bind_listener(l->listener, path);
    if (rc >= 0 && lstat(path, &st) < 0)
        rc = uv_translate_sys_error(errno);
    if (rc < 0) {
        close_listener(l);
        return err_set(err, ERR_IO, "cannot listen on %s: %s", path, uv_strerror(rc));
    }
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    return 0;
}

int links_open(struct runtime *r, struct links **out, struct err *err)
{
    if (!r->host->loop)
        return 0;
    if (check_path(r->socket, err) < 0)
        return -1;
    struct links *l = xcalloc(1, sizeof *l);
    l->runtime = r;
    l->idle_timer.data = l;
    uv_timer_init(r->host->loop, &l->idle_timer);
    if (open_listener(l, r->socket, err) < 0) {
        links_close(l);
        return -1;
    }
    *out = l;
    return 0;
}

int links_restore(struct runtime *r, struct err *err)
{
    struct links *l = r->links;
    struct stat st;
    if (!l ||
        (l->listener && lstat(r->socket, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino))
        return 0;
    return open_listener(l, r->socket, err);
}

void links_close(struct links *l)
{
    if (!l)
        return;
    while (l->first)
        end_link(l->first);
    close_listener(l);
    uv_close((uv_handle_t *)&l->idle_timer, free_links);
}
