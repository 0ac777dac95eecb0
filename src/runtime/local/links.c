/* Owns the connections of conductors: accepting them, splitting them into lines, ending
 * them. The server decides who speaks for which attempt. */
#include "runtime/local/links.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/str.h"
#include "protocol/lines.h"
#include "runtime/local/local.h"

struct link {
    struct runtime_link base;
    uv_pipe_t pipe;
    struct links *owner;
    struct link *prev, *next;
    struct lines in;
    bool closing;
};

struct links {
    uv_pipe_t listener;
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

/* The other side is gone, or does not behave. */
static void lose_link(struct link *link)
{
    if (link->closing)
        return; /* its owner may be gone */
    struct runtime_host *h = link->owner->runtime->host;
    end_link(link);
    h->unlinked(h, &link->base);
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

void links_send(struct runtime *r, struct runtime_link *base, const struct to_conductor *m)
{
    struct link *link = (struct link *)base;
    (void)r;
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
    links_send(link->owner->runtime, &link->base, &m);
}

static void take_line(struct link *link, const char *line, size_t n)
{
    struct links *l = link->owner;
    struct runtime_host *h = l->runtime->host;
    struct to_server m;
    struct err err;
    arena_reset(&l->arena);
    if (to_server_decode(line, n, &l->arena, &m, &err) == 0) {
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

static void accept_link(uv_stream_t *listener, int status)
{
    struct links *l = listener->data;
    if (status < 0)
        return;
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

static void free_links(uv_handle_t *handle)
{
    struct links *l = handle->data;
    arena_done(&l->arena);
    free(l);
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

int links_open(struct runtime *r, struct links **out, struct err *err)
{
    if (!r->host->loop)
        return 0;
    if (check_path(r->socket, err) < 0)
        return -1;
    struct links *l = xcalloc(1, sizeof *l);
    l->runtime = r;
    l->listener.data = l;
    uv_pipe_init(r->host->loop, &l->listener, 0);
    unlink(r->socket);
    mode_t mask = umask(0177);
    int rc = uv_pipe_bind(&l->listener, r->socket);
    umask(mask);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&l->listener, 128, accept_link);
    if (rc < 0) {
        err_set(err, ERR_IO, "cannot listen on %s: %s", r->socket, uv_strerror(rc));
        uv_close((uv_handle_t *)&l->listener, free_links);
        return -1;
    }
    *out = l;
    return 0;
}

void links_close(struct links *l)
{
    if (!l)
        return;
    while (l->first)
        end_link(l->first);
    uv_close((uv_handle_t *)&l->listener, free_links);
}
