/* What a handler is asked. A request lives as long as its reply is owed: also
 * after the handler has returned, when the reply was deferred. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "http/router.h"
#include "http/url.h"

struct json_t;

/* Who asks. */
struct peer {
    bool local; /* by the unix socket: uid, gid and pid are the kernel's word */
    uid_t uid;  /* of the process that connected */
    gid_t gid;
    pid_t pid;
    char address[64]; /* by TCP: "127.0.0.1:40000", "[::1]:40000"; else "" */
};

struct request {
    const struct route *route;
    const char *method; /* as sent: HEAD on a route for GET is "HEAD" */
    const char *path;   /* as sent, without the query */
    const char *params[ROUTE_PARAMS];
    struct url_query query; /* decoded, in order */
    const char *body;       /* a NUL follows it */
    size_t body_n;
    const struct peer *peer;
};

/* The value of "{name}" in the route's pattern; never NULL for one that is there. */
const char *request_param(const struct request *r, const char *name);

/* The first value of a query parameter; NULL when it is not there. Repeated ones
 * are found by walking r->query. */
const char *request_query(const struct request *r, const char *name);

/* A header by its name, whose case does not matter; NULL when it is not there. */
const char *request_header(const struct request *r, const char *name);

/* The body as JSON; *out is the caller's to decref. Refuses another content type,
 * text that is no JSON (with line and column) and repeated keys. */
int request_json(const struct request *r, struct json_t **out, struct err *err);

#endif
