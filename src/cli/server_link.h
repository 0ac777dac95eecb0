/* The connection of a command to the server: finding it, requests and streams. */
#ifndef CLI_SERVER_LINK_H
#define CLI_SERVER_LINK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/command.h"
#include "http/client.h"

#define OPTION_SERVER                                                                              \
    {                                                                                              \
        "server", 0, "PLACE", "socket or URL of the server", false                                 \
    }

struct server_link {
    struct http_client *http;
    char *url; /* without a slash at its end; NULL = a unix socket */
};

struct server_link_config {
    unsigned timeout_s;      /* of a request; 0 = 30 */
    bool (*stop)(void *ctx); /* see http/client.h; may be NULL */
    void *ctx;
};

/* The server is --server, else $TRAINYARD_SERVER (a socket's path or a URL), else the
 * socket in the run directory (wire/dirs.h); $TRAINYARD_TOKEN is the client's
 * token, and $TRAINYARD_FINGERPRINT that of the server's key. Nothing is
 * connected yet. `config` may be NULL. */
int server_link_open(const struct args *args, const struct server_link_config *config,
                     struct server_link *out, struct err *err);
void server_link_close(struct server_link *l);
#define AUTO_LINK __attribute__((cleanup(server_link_close)))

/* Sends a request; `path` is what follows /api/v1. `body` and `out` may be NULL; the caller owns
 * *out. When no server answers, the error says how to start one. */
int server_link_call(struct server_link *l, const char *method, const char *path,
                     const json_t *body, json_t **out, struct err *err);
int server_link_get(struct server_link *l, const char *path, json_t **out, struct err *err);

/* Follow a stream of bytes or events; see http/client.h. */
int server_link_stream(struct server_link *l, const char *path,
                       int (*each)(void *ctx, const char *bytes, size_t n), void *ctx,
                       struct err *err);
int server_link_events(struct server_link *l, const char *path, const char *last_id,
                       int (*each)(void *ctx, const struct sse_event *event), void *ctx,
                       struct err *err);

/* "/jobs/JOB", or "/jobs/JOB/WHAT" when that is not NULL; the caller frees it. */
char *server_link_job_path(const char *job, const char *what);

/* Waits until a server that was there answers again, for at most half a minute; for clients
 * that survive its restart. */
int server_link_wait_back(struct server_link *l, struct err *err);

#endif
