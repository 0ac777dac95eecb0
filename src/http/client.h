/* A blocking HTTP client for the command line: one server, by a unix socket or an
 * address. Connections are kept between requests. */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "http/sse.h"

struct json_t;
struct http_client;

struct http_client_config {
    const char *socket;  /* path of a unix socket, or */
    const char *url;     /* "https://host:port"; just one of the two */
    const char *token;   /* sent as a bearer token; NULL = none */
    const char *ca_file; /* certificates to trust instead of the system's; NULL = those */
    unsigned timeout_s;  /* of a request, not of streams: 0 = 30 */
    /* Asked often, also after a signal: true ends whatever is going on. May be NULL. */
    bool (*stop)(void *ctx);
    void *ctx;
};

/* Copies the configuration; connects to nothing yet. */
int http_client_create(const struct http_client_config *config, struct http_client **out,
                       struct err *err);
void http_client_free(struct http_client *c);

struct http_answer {
    int status;
    char *type; /* "" when there was none */
    struct str body;
};
void http_answer_done(struct http_answer *a);

/* Sends a request and waits for the answer, whatever its status. `body` may be
 * NULL, else it has the given type. ERR_UNREACHABLE when nobody answers, with a
 * text that names the socket or the address. The caller ends *answer. */
int http_client_send(struct http_client *c, const char *method, const char *path, const char *type,
                     const char *body, size_t n, struct http_answer *answer, struct err *err);

/* A header of the last answer; NULL when it had none of that name. Valid until the
 * next request. */
const char *http_client_header(struct http_client *c, const char *name);

/* The same in JSON: `body` may be NULL and stays the caller's. A status from 400 on
 * is an error, with code and text from the problem that the server sent. *out
 * (may be NULL) is the caller's to decref, NULL when the answer had no body. */
int http_client_json(struct http_client *c, const char *method, const char *path,
                     const struct json_t *body, struct json_t **out, struct err *err);

/* GETs `path` and calls each(ctx, bytes, n) as they arrive. Ends when the stream
 * does, when `each` returns other than 0 (which is then returned; let it be
 * positive), or -1 with an error. A stream that breaks off is ERR_UNREACHABLE;
 * one that `stop` ends is ERR_IO. No time-out. */
int http_client_stream(struct http_client *c, const char *path,
                       int (*each)(void *ctx, const char *bytes, size_t n), void *ctx,
                       struct err *err);

/* GETs an event stream and calls `each` for every event, as above. `last_id` (may
 * be NULL) is the id of the last event that was seen before. */
int http_client_events(struct http_client *c, const char *path, const char *last_id,
                       int (*each)(void *ctx, const struct sse_event *event), void *ctx,
                       struct err *err);

#endif
