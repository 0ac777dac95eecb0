/* A request as a handler sees it. It lives until its reply is answered, also after the handler
 * has returned when the reply was deferred. */
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

/* The client. */
struct peer {
    bool local; /* over the unix socket: the kernel gives uid, gid and pid */
    uid_t uid;  /* of the process that connected */
    gid_t gid;
    pid_t pid;
    char address[64]; /* over TCP: "127.0.0.1:40000", "[::1]:40000"; otherwise "" */
    bool tls;
};

/* Whom http_config.identify recognised in a client over TCP. The HTTP layer only keeps it. */
struct caller {
    int64_t token; /* its number; 0 = none */
    unsigned role;
    char user[64];
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
    struct caller caller; /* over TCP, unless the route is open */
};

/* The value of "{name}" in the route's pattern; NULL when the pattern does not have it. */
const char *request_param(const struct request *r, const char *name);

/* The first value of a query parameter; NULL when it is missing. r->query has all values. */
const char *request_query(const struct request *r, const char *name);

/* A header; the case of its name does not matter. NULL when it is missing. */
const char *request_header(const struct request *r, const char *name);

/* A cookie; NULL when it is missing. */
const char *request_cookie(const struct request *r, const char *name);

/* JSON values in a body, roughly. */
enum { REQUEST_VALUES_MAX = 300000 };

/* Parses the body as JSON; the caller owns *out. Fails for another content type, for invalid
 * JSON (with line and column), for repeated keys and for too many values. */
int request_json(const struct request *r, struct json_t **out, struct err *err);

#endif
