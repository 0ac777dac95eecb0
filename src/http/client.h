/* A blocking HTTP client for the command line. It talks to one server, through a unix socket or
 * an address, and keeps connections between requests. */
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
    const char *url;     /* "https://host:port"; give exactly one of the two */
    const char *token;   /* sent as a bearer token; NULL = none */
    const char *ca_file; /* certificates to trust; NULL = the system's */
    const char *pin;     /* "sha256//..." of the server's key, trusted instead; NULL = none */
    const char *const *headers; /* "Name: value", sent along; ends with NULL; NULL = none */
    unsigned timeout_s;         /* of requests, not of streams; 0 = 30 */
    /* Called often, also after a signal; true ends the current request. May be NULL. */
    bool (*stop)(void *ctx);
    void *ctx;
};

/* Copies the configuration; does not connect yet. */
int http_client_create(const struct http_client_config *config, struct http_client **out,
                       struct err *err);
void http_client_free(struct http_client *c);

struct http_answer {
    int status;
    char *type; /* "" when there was none */
    struct str body;
};
void http_answer_done(struct http_answer *a);

/* Sends a request and waits for the answer, whatever its status. `body` may be NULL, otherwise
 * it has the given type. ERR_UNREACHABLE when no server answers; the text names the socket or
 * the address. The caller calls http_answer_done(). */
int http_client_send(struct http_client *c, const char *method, const char *path, const char *type,
                     const char *body, size_t n, struct http_answer *answer, struct err *err);

/* Whether the last request was sent to a server, although that may not have answered. */
bool http_client_reached(struct http_client *c);
/* A header of the last answer; NULL when it is missing. Valid until the next request. */
const char *http_client_header(struct http_client *c, const char *name);

/* The same with JSON; `body` may be NULL and is borrowed. A status of 400 or above is an error
 * with the code and text of the problem that the server sent. The caller owns *out (may be
 * NULL), which is NULL when the answer had no body. */
int http_client_json(struct http_client *c, const char *method, const char *path,
                     const struct json_t *body, struct json_t **out, struct err *err);

/* GETs `path` and calls each(ctx, bytes, n) as bytes arrive. Returns 0 at the end of the stream,
 * what `each` returned when that was not 0 (it should be positive), or -1 with an error:
 * ERR_UNREACHABLE when the stream breaks off, ERR_IO when `stop` ended it. No timeout. */
int http_client_stream(struct http_client *c, const char *path,
                       int (*each)(void *ctx, const char *bytes, size_t n), void *ctx,
                       struct err *err);

/* GETs an event stream and calls `each` for every event, as above. `last_id` (may be NULL) is
 * the id of the last event that was seen. */
int http_client_events(struct http_client *c, const char *path, const char *last_id,
                       int (*each)(void *ctx, const struct sse_event *event), void *ctx,
                       struct err *err);

#endif
