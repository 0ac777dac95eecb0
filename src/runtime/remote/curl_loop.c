/* Runs curl's multi interface on libuv: a poll handle for each socket that curl
 * has, and one timer. */
#include "runtime/remote/curl_loop.h"

#include <uv.h>

#include "base/mem.h"

struct curl_loop {
    CURLM *multi;
    uv_loop_t *loop;
    uv_timer_t timer;
};

struct transfer {
    curl_loop_fn fn;
    void *ctx;
};

struct watched {
    uv_poll_t poll;
    curl_socket_t fd;
    struct curl_loop *owner;
};

/* ---- ends ------------------------------------------------------------------------- */

static void tell_ends(struct curl_loop *l)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(l->multi, &left))) {
        struct transfer *t = NULL;
        CURLcode result = m->data.result; /* the message may go with the handle */
        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
        t->fn(t->ctx, result);
    }
}

/* ---- sockets and time ------------------------------------------------------------- */

static void on_ready(uv_poll_t *poll, int status, int events)
{
    const struct watched *w = poll->data;
    struct curl_loop *l = w->owner;
    int running, flags = 0;
    flags |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
    flags |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    flags |= status < 0 ? CURL_CSELECT_ERR : 0;
    curl_multi_socket_action(l->multi, w->fd, flags, &running);
    tell_ends(l);
}

static void free_watched(uv_handle_t *handle)
{
    free(handle->data);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
    struct curl_loop *l = ctx;
    struct watched *w = known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w) {
            curl_multi_assign(l->multi, fd, NULL);
            uv_close((uv_handle_t *)&w->poll, free_watched);
        }
        return 0;
    }
    if (!w) {
        w = xcalloc(1, sizeof *w);
        w->fd = fd;
        w->owner = l;
        w->poll.data = w;
        if (uv_poll_init_socket(l->loop, &w->poll, fd) < 0) {
            free(w);
            return -1;
        }
        curl_multi_assign(l->multi, fd, w);
    }
    uv_poll_start(&w->poll,
                  (what & CURL_POLL_IN ? UV_READABLE : 0) |
                      (what & CURL_POLL_OUT ? UV_WRITABLE : 0),
                  on_ready);
    return 0;
}

static void on_time(uv_timer_t *timer)
{
    struct curl_loop *l = timer->data;
    int running;
    curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    tell_ends(l);
}

static int on_timeout(CURLM *multi, long ms, void *ctx)
{
    struct curl_loop *l = ctx;
    (void)multi;
    if (ms < 0)
        uv_timer_stop(&l->timer);
    else
        uv_timer_start(&l->timer, on_time, (uint64_t)ms, 0);
    return 0;
}

/* ---- life --------------------------------------------------------------------------- */

int curl_loop_open(struct uv_loop_s *loop, struct curl_loop **out, struct err *err)
{
    struct curl_loop *l = xcalloc(1, sizeof *l);
    l->loop = loop;
    l->multi = curl_multi_init();
    if (!l->multi) {
        free(l);
        return err_set(err, ERR_INTERNAL, "libcurl cannot be used");
    }
    uv_timer_init(loop, &l->timer);
    l->timer.data = l;
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
    *out = l;
    return 0;
}

static void free_loop(uv_handle_t *handle)
{
    free(handle->data);
}

void curl_loop_close(struct curl_loop *l)
{
    if (!l)
        return;
    curl_multi_cleanup(l->multi);
    uv_close((uv_handle_t *)&l->timer, free_loop);
}

struct uv_loop_s *curl_loop_uv(const struct curl_loop *l)
{
    return l->loop;
}

void curl_loop_add(struct curl_loop *l, CURL *easy, curl_loop_fn fn, void *ctx)
{
    struct transfer *t = xcalloc(1, sizeof *t);
    *t = (struct transfer){fn, ctx};
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    curl_multi_add_handle(l->multi, easy);
}

void curl_loop_remove(struct curl_loop *l, CURL *easy)
{
    struct transfer *t = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
    curl_multi_remove_handle(l->multi, easy);
    free(t);
}
