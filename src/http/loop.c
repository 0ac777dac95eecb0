/* Owns how MHD runs in the loop, the timers, and how both end.
 *
 * uv_poll watches the epoll descriptor of each daemon; when it is readable, or MHD's own timeout
 * has passed, pump runs MHD. The timer is active only while MHD asks for one, tick only while a
 * request is awaited, comment only while there are event streams, so an idle server never wakes up.
 * pump is the only caller of MHD_run and is never called from within it. */
#include "http/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/conn.h"
#include "http/internal.h"
#include "http/listener.h"
#include "http/tls.h"
#include "http/watch.h"

/* MHD often has more to do right after a run. After this many runs, other handles of the loop
 * get their turn first. */
#define PUMP_ROUNDS 16

/* How long until MHD must run; 0 also when connections were resumed, which it does not count.
 * False when only its descriptors can tell. */
static bool next_run(struct http_server *s, MHD_UNSIGNED_LONG_LONG *wait)
{
    bool known = s->resumed;
    *wait = 0;
    for (struct daemon *d = s->resumed ? NULL : s->daemons; d; d = d->next) {
        MHD_UNSIGNED_LONG_LONG one;
        if (MHD_get_timeout(d->mhd, &one) != MHD_YES)
            continue;
        *wait = known && *wait < one ? *wait : one;
        known = true;
    }
    return known;
}

static void pump(struct http_server *s)
{
    MHD_UNSIGNED_LONG_LONG wait = 0;
    s->pumping = true;
    for (int round = 0; round < PUMP_ROUNDS && wait == 0; round++) {
        s->resumed = false;
        for (struct daemon *d = s->daemons; d; d = d->next)
            MHD_run(d->mhd);
        if (!next_run(s, &wait))
            break;
    }
    s->pumping = false;
    loop_retire(s);
    if (s->stopping && !s->conns)
        loop_leave(s);
    else
        loop_arm(s);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    const struct daemon *d = poll->data;
    pump(d->server);
}

static void on_wake(uv_timer_t *timer)
{
    pump(timer->data);
}

void loop_arm(struct http_server *s)
{
    MHD_UNSIGNED_LONG_LONG wait;
    if (!next_run(s, &wait))
        uv_timer_stop(&s->wake);
    else if (!uv_is_active((uv_handle_t *)&s->wake) || uv_timer_get_due_in(&s->wake) > wait)
        uv_timer_start(&s->wake, on_wake, wait, 0);
}

void loop_resumed(struct http_server *s)
{
    if (s->resumed)
        return;
    s->resumed = true;
    if (!s->pumping)
        loop_arm(s);
}

static void on_tick(uv_timer_t *timer)
{
    struct http_server *s = timer->data;
    for (struct conn *c = s->conns; c; c = c->next)
        conn_check_deadline(c, uv_now(s->loop));
    listener_retry(s);
    loop_update_tick(s);
}

void loop_update_tick(struct http_server *s)
{
    bool paused = false;
    for (const struct listener *l = s->listeners; l; l = l->next)
        paused |= l->paused;
    if (!s->receiving && !paused) {
        uv_timer_stop(&s->tick);
    } else if (!uv_is_active((uv_handle_t *)&s->tick)) {
        uint64_t period = s->limits.request_s * 250ull;
        period = period > 5000 ? 5000 : period;
        uv_timer_start(&s->tick, on_tick, period, period);
    }
}

/* Addresses are decoded in url.c, which reports errors. */
static size_t leave_escaped(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls;
    (void)mhd;
    return strlen(text);
}

static struct MHD_Daemon *start_mhd(struct http_server *s, const struct tls_certificate *tls)
{
    const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    const struct MHD_OptionItem secrets[] = {
        {tls ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, tls ? tls->chain : NULL},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, tls ? tls->key : NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    const struct MHD_OptionItem numbers[] = {
        /* A connection's memory holds the head of the request, the buffer for reading the body,
         * and the head of the reply. */
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)s->limits.header + (8 << 10), NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, s->limits.idle_s, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, INT32_MAX, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        flags | (tls ? MHD_USE_TLS : 0), 0, NULL, NULL, conn_callbacks.access, s, MHD_OPTION_ARRAY,
        numbers, MHD_OPTION_ARRAY, secrets, MHD_OPTION_NOTIFY_CONNECTION, conn_callbacks.connection,
        s, MHD_OPTION_NOTIFY_COMPLETED, conn_callbacks.completed, s, MHD_OPTION_URI_LOG_CALLBACK,
        conn_callbacks.uri, s, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
}

static void add_timer(struct http_server *s, uv_timer_t *timer)
{
    uv_timer_init(s->loop, timer);
    timer->data = s;
    s->handles++;
}

static void on_daemon_closed(uv_handle_t *handle)
{
    struct daemon *d = handle->data;
    handle->data = d->server;
    loop_handle_closed(handle);
    free(d);
}

/* Stops MHD with the connections that it has. */
static void end_daemon(struct daemon *d)
{
    MHD_stop_daemon(d->mhd);
    uv_close((uv_handle_t *)&d->poll, on_daemon_closed);
}

static int watch_daemon(struct daemon *d, struct err *err)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(d->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    int rc = info ? uv_poll_init(d->server->loop, &d->poll, info->epoll_fd) : UV_ENOSYS;
    if (rc < 0)
        return err_set(err, ERR_INTERNAL, "cannot watch the HTTP server: %s", uv_strerror(rc));
    d->poll.data = d;
    d->server->handles++;
    uv_poll_start(&d->poll, UV_READABLE, on_readable);
    return 0;
}

struct daemon *loop_add_daemon(struct http_server *s, const struct tls_certificate *tls,
                               struct err *err)
{
    struct daemon *d = xcalloc(1, sizeof *d);
    d->server = s;
    d->mhd = start_mhd(s, tls);
    if (!d->mhd) {
        err_set(err, ERR_INTERNAL, "cannot start the HTTP server: %s", strerror(errno));
    } else if (watch_daemon(d, err) == 0) {
        d->next = s->daemons;
        s->daemons = d;
        return d;
    } else {
        MHD_stop_daemon(d->mhd);
    }
    free(d);
    return NULL;
}

void loop_retire(struct http_server *s)
{
    for (struct daemon **at = &s->daemons; *at;) {
        struct daemon *d = *at;
        if (d == s->plain || d == s->tls || d->connections) {
            at = &d->next;
            continue;
        }
        *at = d->next;
        end_daemon(d);
    }
}

int loop_join(struct http_server *s, struct err *err)
{
    add_timer(s, &s->wake);
    add_timer(s, &s->tick);
    add_timer(s, &s->comment);
    add_timer(s, &s->grace);
    s->plain = loop_add_daemon(s, NULL, err);
    return !s->plain || watch_open(s, err) < 0 ? -1 : 0;
}

/* Stops MHD with all its connections. None may be suspended then, and connections that were
 * resumed only count as such after a run. */
static void end_daemons(struct http_server *s)
{
    s->cut_off = true;
    for (struct conn *c = s->conns; c; c = c->next)
        conn_abandon(c);
    for (struct daemon *d = s->daemons, *next; d; d = next) {
        next = d->next;
        MHD_run(d->mhd);
        end_daemon(d);
    }
    s->daemons = NULL;
}

void loop_leave(struct http_server *s)
{
    end_daemons(s);
    watch_close(s);
    uv_close((uv_handle_t *)&s->wake, loop_handle_closed);
    uv_close((uv_handle_t *)&s->tick, loop_handle_closed);
    uv_close((uv_handle_t *)&s->comment, loop_handle_closed);
    uv_close((uv_handle_t *)&s->grace, loop_handle_closed);
}

void loop_handle_closed(uv_handle_t *handle)
{
    struct http_server *s = handle->data;
    if (--s->handles)
        return;
    void (*stopped)(void *) = s->stopped;
    void *ctx = s->stopped_ctx;
    listener_free_all(s);
    free(s);
    if (stopped)
        stopped(ctx);
}
