/* Owns connections that are used for other bytes after the head of the response. */
#include "runtime/remote/tunnel.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

enum { CHUNK = 65536 };

struct tunnel {
    struct curl_loop *curl;
    CURL *easy;
    const struct tunnel_user *user;
    void *ctx;
    struct str out; /* left to send */
    struct http_head head;
    uv_poll_t poll;
    int fd; /* of the poll handle: a copy of curl's; -1 = not connected yet */
    bool closing;
    char detail[CURL_ERROR_SIZE];
};

/* ---- the end -------------------------------------------------------------------------- */

static void free_tunnel(uv_handle_t *handle)
{
    struct tunnel *t = handle->data;
    if (t->fd >= 0)
        close(t->fd);
    str_done(&t->out);
    head_done(&t->head);
    free(t);
}

void tunnel_close(struct tunnel *t)
{
    if (!t || t->closing)
        return;
    t->closing = true;
    curl_loop_remove(t->curl, t->easy);
    curl_easy_cleanup(t->easy);
    t->poll.data = t;
    if (t->fd >= 0)
        uv_close((uv_handle_t *)&t->poll, free_tunnel);
    else
        free_tunnel((uv_handle_t *)&t->poll);
}

static void end(struct tunnel *t, const struct err *why)
{
    const struct tunnel_user *user = t->user;
    void *ctx = t->ctx;
    struct err copy = *why;
    if (t->closing)
        return;
    tunnel_close(t);
    user->closed(ctx, &copy);
}

static void fail(struct tunnel *t, CURLcode code)
{
    struct err err;
    t->user->explain(t->ctx, t->easy, code, t->detail, &err);
    end(t, &err);
}

static void hung_up(struct tunnel *t)
{
    end(t, &(struct err){.code = ERR_OK});
}

/* ---- bytes ----------------------------------------------------------------------------- */

static int take(struct tunnel *t, const char *bytes, size_t n, struct err *err)
{
    size_t used = 0;
    if (!t->head.status) {
        if (head_feed(&t->head, bytes, n, &used, err) < 0)
            return -1;
        if (t->head.status && t->user->agreed && t->user->agreed(t->ctx, &t->head, err) < 0)
            return -1;
    }
    return used < n && !t->closing ? t->user->bytes(t->ctx, bytes + used, n - used, err) : 0;
}

/* Takes what there is; false when the tunnel has ended. */
static bool receive(struct tunnel *t)
{
    static char bytes[CHUNK];
    struct err err;
    do {
        size_t n = 0;
        CURLcode code = curl_easy_recv(t->easy, bytes, sizeof bytes, &n);
        if (code == CURLE_AGAIN)
            return true;
        if (code != CURLE_OK || !n) {
            hung_up(t);
            return false;
        }
        if (take(t, bytes, n, &err) < 0) {
            end(t, &err);
            return false;
        }
    } while (!t->closing);
    return false;
}

static void on_ready(uv_poll_t *poll, int status, int events);

static void send_out(struct tunnel *t)
{
    while (t->out.n) {
        size_t n = 0;
        CURLcode code = curl_easy_send(t->easy, t->out.at, t->out.n, &n);
        if (code != CURLE_OK && code != CURLE_AGAIN) {
            fail(t, code);
            return;
        }
        if (code == CURLE_AGAIN)
            break;
        t->out.n -= n;
        memmove(t->out.at, t->out.at + n, t->out.n);
    }
    uv_poll_start(&t->poll, UV_READABLE | (t->out.n ? UV_WRITABLE : 0), on_ready);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct tunnel *t = poll->data;
    (void)events;
    if (status < 0) {
        hung_up(t);
        return;
    }
    if (receive(t))
        send_out(t);
}

void tunnel_send(struct tunnel *t, const char *bytes, size_t n)
{
    str_add_n(&t->out, bytes, n);
    if (t->fd >= 0 && !t->closing) /* from the loop, never inside this call */
        uv_poll_start(&t->poll, UV_READABLE | UV_WRITABLE, on_ready);
}

/* ---- the beginning ---------------------------------------------------------------------- */

static void on_connected(void *ctx, CURLcode code)
{
    struct tunnel *t = ctx;
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (code != CURLE_OK) {
        fail(t, code);
        return;
    }
    curl_easy_getinfo(t->easy, CURLINFO_ACTIVESOCKET, &fd);
    int own = dup(fd);
    if (own < 0 || uv_poll_init(curl_loop_uv(t->curl), &t->poll, own) < 0) {
        if (own >= 0)
            close(own);
        fail(t, CURLE_COULDNT_CONNECT);
        return;
    }
    t->fd = own;
    t->poll.data = t;
    send_out(t);
}

struct tunnel *tunnel_open(struct curl_loop *curl, CURL *easy, const struct str *request,
                           const struct tunnel_user *user, void *ctx)
{
    struct tunnel *t = xcalloc(1, sizeof *t);
    *t = (struct tunnel){.curl = curl, .easy = easy, .user = user, .ctx = ctx, .fd = -1};
    str_add_n(&t->out, request->at, request->n);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->detail);
    curl_loop_add(curl, easy, on_connected, t);
    return t;
}
