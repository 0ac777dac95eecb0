/* Owns the server under test and its thread, and the sockets that talk to it. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "support/http_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "http/listen.h"
#include "http/request.h"
#include "http/token.h"
#include "support/test.h"

enum { STOP_LIMIT_S = 60 };

static void on_call(uv_async_t *call)
{
    struct http_host *h = call->data;
    h->todo(h);
    uv_sem_post(&h->done);
}

static void *run_loop(void *arg)
{
    struct http_host *h = arg;
    uv_run(&h->loop, UV_RUN_DEFAULT);
    return NULL;
}

bool http_host_knows(void *ctx, const struct request *request, struct caller *caller)
{
    const char *token = token_bearer(request);
    (void)ctx;
    caller->role = 1;
    return token && !strcmp(token, "s3cret");
}

void http_host_start(struct http_host *h, struct http_config config)
{
    struct err err;
    *h = (struct http_host){.dir = "/tmp/trainyard-http-XXXXXX"};
    assert_non_null(mkdtemp(h->dir));
    snprintf(h->socket, sizeof h->socket, "%s/s", h->dir);
    if (!config.ctx)
        config.ctx = h;
    assert_int_equal(uv_loop_init(&h->loop), 0);
    uv_async_init(&h->loop, &h->call, on_call);
    h->call.data = h;
    uv_sem_init(&h->done, 0);
    assert_ok(http_server_create(&h->loop, &config, &h->server, &err), err);
    assert_ok(http_server_listen_unix(h->server, h->socket, &err), err);
    if (config.identify)
        assert_ok(http_server_listen_tcp(h->server, "127.0.0.1:0", &h->port, NULL, &err), err);
    assert_int_equal(pthread_create(&h->thread, NULL, run_loop, h), 0);
}

void http_host_do(struct http_host *h, void (*todo)(struct http_host *h))
{
    h->todo = todo;
    uv_async_send(&h->call);
    uv_sem_wait(&h->done);
}

static void on_stopped(void *ctx)
{
    struct http_host *h = ctx;
    uv_close((uv_handle_t *)&h->call, NULL);
}

static void begin_stop(struct http_host *h)
{
    http_server_stop(h->server, h->grace, on_stopped, h);
}

void http_host_begin_stop(struct http_host *h, usec_t grace)
{
    h->grace = grace;
    http_host_do(h, begin_stop);
}

void http_host_end_stop(struct http_host *h)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += STOP_LIMIT_S;
    if (pthread_timedjoin_np(h->thread, NULL, &limit) != 0)
        fail_msg("the server has not stopped after %d s", STOP_LIMIT_S);
    assert_int_equal(uv_loop_close(&h->loop), 0);
    uv_sem_destroy(&h->done);
    /* The socket's file must be gone by now. */
    assert_int_equal(rmdir(h->dir), 0);
}

void http_host_stop(struct http_host *h, usec_t grace)
{
    http_host_begin_stop(h, grace);
    http_host_end_stop(h);
}

/* ---- sockets --------------------------------------------------------------- */

static int connect_to(int family, const void *address, socklen_t size)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = 30};
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, address, size), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

int wire_connect(const struct http_host *h)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path, h->socket);
    return connect_to(AF_UNIX, &a, sizeof a);
}

int wire_connect_tcp(const struct http_host *h)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)h->port)};
    inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
    return connect_to(AF_INET, &a, sizeof a);
}

void wire_send_n(int fd, const void *bytes, size_t n)
{
    for (const char *p = bytes; n;) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0)
            fail_msg("send: %s", strerror(errno));
        p += sent;
        n -= (size_t)sent;
    }
}

void wire_send(int fd, const char *text)
{
    wire_send_n(fd, text, strlen(text));
}

/* One more piece; false at the end. A reset counts as one. */
static bool read_more(int fd, struct str *s)
{
    char buf[65536];
    ssize_t n = recv(fd, buf, sizeof buf, 0);
    if (n < 0 && errno != ECONNRESET)
        fail_msg("recv: %s; so far: %s", strerror(errno), s->n ? s->at : "nothing");
    if (n <= 0)
        return false;
    str_add_n(s, buf, (size_t)n);
    return true;
}

char *wire_read_end(int fd)
{
    struct str s = {0};
    str_add(&s, "");
    while (read_more(fd, &s))
        ;
    return s.at;
}

char *wire_read_until(int fd, const char *text)
{
    struct str s = {0};
    str_add(&s, "");
    while (!strstr(s.at, text))
        if (!read_more(fd, &s))
            fail_msg("'%s' does not come; instead: %s", text, s.at);
    return s.at;
}

bool wire_closed(int fd)
{
    char *text = wire_read_end(fd);
    bool nothing = !*text;
    free(text);
    return nothing;
}

/* ---- replies --------------------------------------------------------------- */

/* Byte by byte, as what follows may be the next reply's. */
static char *read_line(int fd)
{
    struct str s = {0};
    char c;
    str_add(&s, "");
    while (s.n < 2 || memcmp(s.at + s.n - 2, "\r\n", 2) != 0) {
        if (recv(fd, &c, 1, 0) != 1)
            fail_msg("the reply ends within a line: '%s'", s.at);
        str_add_n(&s, &c, 1);
    }
    return s.at;
}

static void read_exactly(int fd, size_t n, struct str *out)
{
    char buf[65536];
    while (n) {
        ssize_t got = recv(fd, buf, n < sizeof buf ? n : sizeof buf, 0);
        if (got <= 0)
            fail_msg("the reply ends %zu bytes early", n);
        str_add_n(out, buf, (size_t)got);
        n -= (size_t)got;
    }
}

static void read_chunks(int fd, struct str *out)
{
    for (size_t n = 1; n;) {
        AUTO_FREE char *line = read_line(fd);
        n = strtoul(line, NULL, 16);
        read_exactly(fd, n, out);
        AUTO_FREE char *end = read_line(fd);
        assert_string_equal(end, "\r\n");
    }
}

const char *wire_header(struct wire_reply *r, const char *name)
{
    static __thread char value[1024];
    size_t n = strlen(name);
    for (const char *p = r->head; (p = strchr(p, '\n')); p++) {
        if (strncasecmp(p + 1, name, n) != 0 || p[1 + n] != ':')
            continue;
        p += n + 2 + strspn(p + n + 2, " ");
        snprintf(value, sizeof value, "%.*s", (int)strcspn(p, "\r\n"), p);
        return value;
    }
    return NULL;
}

struct wire_reply wire_read_reply(int fd, bool head)
{
    struct wire_reply r = {0};
    struct str s = {0};
    for (bool more = true; more;) {
        AUTO_FREE char *line = read_line(fd);
        str_add(&s, line);
        more = strcmp(line, "\r\n") != 0;
    }
    r.head = s.at;
    str_add(&r.body, "");
    assert_int_equal(sscanf(r.head, "HTTP/1.1 %d", &r.status), 1);
    if (head || r.status == 204 || r.status == 304)
        return r;
    const char *length = wire_header(&r, "Content-Length");
    if (length)
        read_exactly(fd, strtoul(length, NULL, 10), &r.body);
    else if (wire_header(&r, "Transfer-Encoding"))
        read_chunks(fd, &r.body);
    return r;
}

void wire_reply_done(struct wire_reply *r)
{
    free(r->head);
    str_done(&r->body);
}

struct wire_reply wire_ask(const struct http_host *h, const char *line, const char *headers,
                           const char *body)
{
    struct str s = {0};
    int fd = wire_connect(h);
    str_addf(&s, "%s HTTP/1.1\r\nHost: x\r\n%s", line, headers);
    if (body)
        str_addf(&s, "Content-Length: %zu\r\n", strlen(body));
    str_addf(&s, "\r\n%s", body ? body : "");
    wire_send_n(fd, s.at, s.n);
    str_done(&s);
    struct wire_reply r = wire_read_reply(fd, !strncmp(line, "HEAD ", 5));
    close(fd);
    return r;
}

int http_host_tear_down(void **state)
{
    http_host_stop(*state, USEC_PER_SEC);
    free(*state);
    return 0;
}
