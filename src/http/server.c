/* Owns the creation and the stopping of a server. */
#include "http/server.h"

#include "http/conn.h"
#include "http/internal.h"
#include "http/listener.h"
#include "http/loop.h"

static size_t default_size(size_t value, size_t otherwise)
{
    return value ? value : otherwise;
}

static unsigned default_count(unsigned value, unsigned otherwise)
{
    return value ? value : otherwise;
}

static struct http_limits limits_or_defaults(struct http_limits l)
{
    return (struct http_limits){
        .body = default_size(l.body, 8u << 20),
        .header = default_size(l.header, 16u << 10),
        .stream = default_size(l.stream, 256u << 10),
        .connections = default_count(l.connections, 1000),
        .peer_connections = default_count(l.peer_connections, 256),
        .strangers = default_count(l.strangers, 128),
        .idle_s = default_count(l.idle_s, 60),
        .request_s = default_count(l.request_s, 30),
        .comment_s = default_count(l.comment_s, 15),
    };
}

int http_server_create(uv_loop_t *loop, const struct http_config *config, struct http_server **out,
                       struct err *err)
{
    if (router_check(config->routes, err) < 0)
        return -1;
    struct http_server *s = xcalloc(1, sizeof *s);
    s->loop = loop;
    s->routes = config->routes;
    s->ctx = config->ctx;
    s->identify = config->identify;
    s->group = config->group;
    s->limits = limits_or_defaults(config->limits);
    s->served = config->served;
    s->watch_fd = -1;
    if (loop_join(s, err) < 0) {
        loop_leave(s);
        return -1;
    }
    *out = s;
    return 0;
}

int http_server_use_certificate(struct http_server *s, const struct tls_certificate *certificate,
                                struct err *err)
{
    struct daemon *d = loop_add_daemon(s, certificate, err);
    if (!d)
        return -1;
    s->tls = d;
    loop_retire(s);
    return 0;
}

static void on_grace_over(uv_timer_t *timer)
{
    loop_leave(timer->data);
}

void http_server_stop(struct http_server *s, usec_t grace, void (*stopped)(void *ctx), void *ctx)
{
    uint64_t ms = grace > 0 ? (uint64_t)grace / 1000 : 0;
    if (s->stopping) {
        if (uv_timer_get_due_in(&s->grace) > ms)
            uv_timer_start(&s->grace, on_grace_over, ms, 0);
        return;
    }
    s->stopping = true;
    s->stopped = stopped;
    s->stopped_ctx = ctx;
    listener_close_all(s);
    for (struct conn *c = s->conns, *next; c; c = next) {
        next = c->next;
        conn_wind_down(c);
    }
    /* Not at once: this may be called by a handler, inside MHD. */
    uv_timer_start(&s->grace, on_grace_over, s->conns ? ms : 0, 0);
}
