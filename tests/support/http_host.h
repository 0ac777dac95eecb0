/* A real server in a thread of its own, on a socket in a temporary directory, and
 * plain sockets to talk to it byte by byte. Reads give up after half a minute, so
 * a test never hangs. */
#ifndef SUPPORT_HTTP_HOST_H
#define SUPPORT_HTTP_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/str.h"
#include "http/server.h"

struct http_host {
    char dir[64], socket[96];
    unsigned port; /* TCP, when the configuration has `identify` */
    struct http_server *server;
    uv_loop_t loop;
    pthread_t thread;
    uv_async_t call; /* runs `todo` in the server's thread */
    void (*todo)(struct http_host *h);
    uv_sem_t done;
    usec_t grace;
};

/* Knows clients with the token "s3cret"; for http_config.identify. */
bool http_host_knows(void *ctx, const struct request *request, struct caller *caller);

/* Starts it. When the configuration has no ctx, the handlers get the host. */
void http_host_start(struct http_host *h, struct http_config config);
/* Calls todo(h) in the server's thread, and waits for it to return. */
void http_host_do(struct http_host *h, void (*todo)(struct http_host *h));
/* Stops it and waits until all is over. Fails the test when that takes more than a
 * minute, so a longer grace shows that nothing waited for its end. */
void http_host_stop(struct http_host *h, usec_t grace);
/* The tear-down of a test whose state is a host on the heap. */
int http_host_tear_down(void **state);
/* The same in two steps, for a look at what happens in between. */
void http_host_begin_stop(struct http_host *h, usec_t grace);
void http_host_end_stop(struct http_host *h);

/* Sockets. */
int wire_connect(const struct http_host *h);
int wire_connect_tcp(const struct http_host *h);
void wire_send(int fd, const char *text);
void wire_send_n(int fd, const void *bytes, size_t n);
/* All until the other side closes. The text is the caller's. */
char *wire_read_end(int fd);
/* Reads until `text` has been seen; all that was read is the caller's. Fails the
 * test when it does not come. */
char *wire_read_until(int fd, const char *text);
/* The other side closes, and sends nothing before. */
bool wire_closed(int fd);

struct wire_reply {
    int status;
    char *head; /* status line and headers */
    struct str body;
};
/* One reply with a Content-Length or in chunks; `head` asks for no body. */
struct wire_reply wire_read_reply(int fd, bool head);
/* A header's value, or NULL; its memory is the reply's, until the next call. */
const char *wire_header(struct wire_reply *r, const char *name);
#define assert_header(r, name, value)                                                              \
    do {                                                                                           \
        const char *header_ = wire_header(r, name);                                                \
        assert_non_null(header_);                                                                  \
        assert_string_equal(header_, value);                                                       \
    } while (0)
void wire_reply_done(struct wire_reply *r);

/* Sends "METHOD PATH" with headers (each with its \r\n) and a body on a connection
 * of its own, and reads the reply. */
struct wire_reply wire_ask(const struct http_host *h, const char *line, const char *headers,
                           const char *body);

/* Polls until the condition holds, for half a minute. */
#define wait_for(condition)                                                                        \
    do {                                                                                           \
        int wait_i_ = 0;                                                                           \
        while (!(condition) && wait_i_++ < 30000)                                                  \
            usleep(1000);                                                                          \
        assert_true(condition);                                                                    \
    } while (0)

#endif
