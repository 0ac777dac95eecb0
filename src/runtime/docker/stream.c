/* Owns hijacked connections: after the head of the response, both sides send what they like.
 * libcurl connects and encrypts; the request is sent here. */
#include "runtime/docker/stream.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "runtime/docker/frames.h"
#include "runtime/docker/head.h"

enum { CHUNK = 65536, SWITCHING = 101, OK = 200, REFUSAL_MAX = 512 };

struct stream {
    struct engine *engine;
    CURL *easy;
    const struct stream_user *user;
    void *ctx;
    struct str out; /* left to send */
    struct http_head head;
    struct frames frames;
    struct str complaint; /* what the program wrote to standard error, or why it was refused */
    uv_poll_t poll;
    int fd; /* of the poll handle: a copy of curl's; -1 = not connected yet */
    bool closing;
    char detail[CURL_ERROR_SIZE];
};

/* ---- the end -------------------------------------------------------------------------- */

static void free_stream(uv_handle_t *handle)
{
    struct stream *s = handle->data;
    close(s->fd);
    str_done(&s->out);
    str_done(&s->complaint);
    head_done(&s->head);
    free(s);
}

void stream_close(struct stream *s)
{
    if (!s || s->closing)
        return;
    s->closing = true;
    curl_loop_remove(engine_curl(s->engine), s->easy);
    curl_easy_cleanup(s->easy);
    s->poll.data = s;
    if (s->fd >= 0)
        uv_close((uv_handle_t *)&s->poll, free_stream);
    else
        free_stream((uv_handle_t *)&s->poll);
}

static void end(struct stream *s, const struct err *why)
{
    const struct stream_user *user = s->user;
    void *ctx = s->ctx;
    struct err copy = *why;
    if (s->closing)
        return;
    stream_close(s);
    user->closed(ctx, &copy);
}

static void fail(struct stream *s, CURLcode code)
{
    struct err err;
    engine_explain(s->engine, s->easy, code, s->detail, &err);
    end(s, &err);
}

/* The other side has hung up: what it said before that tells why. */
static void hung_up(struct stream *s)
{
    struct err err;
    char text[200];
    answer_read_error(s->complaint.n ? s->complaint.at : "", s->complaint.n, text, sizeof text);
    err_set(&err, ERR_IO, "the connection to the conductor has ended%s%s", *text ? ": " : "", text);
    end(s, &err);
}

/* ---- bytes ----------------------------------------------------------------------------- */

static void complain(struct stream *s, const char *bytes, size_t n)
{
    size_t room = s->complaint.n < REFUSAL_MAX ? REFUSAL_MAX - s->complaint.n : 0;
    str_add_n(&s->complaint, bytes, n < room ? n : room);
}

static void take_frame(void *ctx, enum frame_stream stream, const char *bytes, size_t n)
{
    struct stream *s = ctx;
    if (s->closing)
        return;
    if (stream == FRAME_STDOUT)
        s->user->bytes(s->ctx, bytes, n);
    else
        complain(s, bytes, n);
}

static int take(struct stream *s, const char *bytes, size_t n, struct err *err)
{
    size_t used = 0;
    if (!s->head.status && head_feed(&s->head, bytes, n, &used, err) < 0)
        return -1;
    if (used == n)
        return 0;
    if (s->head.status == SWITCHING || s->head.status == OK)
        return frames_feed(&s->frames, bytes + used, n - used, take_frame, s, err);
    complain(s, bytes + used, n - used);
    return 0;
}

/* Takes what there is; false when the stream has ended. */
static bool receive(struct stream *s)
{
    static char bytes[CHUNK];
    struct err err;
    do {
        size_t n = 0;
        CURLcode code = curl_easy_recv(s->easy, bytes, sizeof bytes, &n);
        if (code == CURLE_AGAIN)
            return true;
        if (code != CURLE_OK || !n) {
            hung_up(s);
            return false;
        }
        if (take(s, bytes, n, &err) < 0) {
            end(s, &err);
            return false;
        }
    } while (!s->closing);
    return false;
}

static void on_ready(uv_poll_t *poll, int status, int events);

static void send_out(struct stream *s)
{
    while (s->out.n) {
        size_t n = 0;
        CURLcode code = curl_easy_send(s->easy, s->out.at, s->out.n, &n);
        if (code != CURLE_OK && code != CURLE_AGAIN) {
            fail(s, code);
            return;
        }
        if (code == CURLE_AGAIN)
            break;
        s->out.n -= n;
        memmove(s->out.at, s->out.at + n, s->out.n);
    }
    uv_poll_start(&s->poll, UV_READABLE | (s->out.n ? UV_WRITABLE : 0), on_ready);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct stream *s = poll->data;
    (void)events;
    if (status < 0) {
        hung_up(s);
        return;
    }
    if (receive(s))
        send_out(s);
}

void stream_send(struct stream *s, const char *bytes, size_t n)
{
    str_add_n(&s->out, bytes, n);
    if (s->fd >= 0) /* from the loop, never inside this call */
        uv_poll_start(&s->poll, UV_READABLE | UV_WRITABLE, on_ready);
}

/* ---- the beginning ---------------------------------------------------------------------- */

static void on_connected(void *ctx, CURLcode code)
{
    struct stream *s = ctx;
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (code != CURLE_OK) {
        fail(s, code);
        return;
    }
    curl_easy_getinfo(s->easy, CURLINFO_ACTIVESOCKET, &fd);
    int own = dup(fd);
    if (own < 0 || uv_poll_init(engine_loop(s->engine), &s->poll, own) < 0) {
        if (own >= 0)
            close(own);
        fail(s, CURLE_COULDNT_CONNECT);
        return;
    }
    s->fd = own;
    s->poll.data = s;
    send_out(s);
}

struct stream *stream_open(struct engine *e, const char *exec, const struct stream_user *user,
                           void *ctx)
{
    static const char body[] = "{\"Detach\":false,\"Tty\":false}";
    struct stream *s = xcalloc(1, sizeof *s);
    struct str url = {0}, path = {0};
    *s = (struct stream){.engine = e, .user = user, .ctx = ctx, .fd = -1};
    str_addf(&path, "/exec/%s/start", exec);
    s->easy = engine_handle(e, path.at, false, &url);
    const char *host = strstr(url.at, "//") + 2, *target = strchr(host, '/');
    str_addf(&s->out,
             "POST %s HTTP/1.1\r\nHost: %.*s\r\nContent-Type: application/json\r\n"
             "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: %zu\r\n\r\n%s",
             target, (int)(target - host), host, sizeof body - 1, body);
    curl_easy_setopt(s->easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(s->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(s->easy, CURLOPT_ERRORBUFFER, s->detail);
    curl_loop_add(engine_curl(e), s->easy, on_connected, s);
    str_done(&url);
    str_done(&path);
    return s;
}
