/* A const table of routes, and the match of a method and a path against it. Pure. */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct request;
struct reply;

/* Answers a request with a function of http/reply.h, http/content.h or http/stream.h, or calls
 * reply_defer() and answers later. `ctx` is that of the server's configuration. */
typedef void (*http_handler)(const struct request *request, struct reply *reply, void *ctx);

/* A table of routes ends with {0}. The first match wins, so a literal segment must come before
 * a parameter in the same place. Unless they have routes, HEAD goes to the handler of GET, and
 * the server answers OPTIONS. */
struct route {
    const char *method;
    const char *pattern; /* "/api/v1/jobs/{id}/logs"; a parameter is a whole segment */
    http_handler handle;
    const char *name; /* for metrics, logs and documents: "job_logs" */
    bool open;        /* served on TCP to unknown clients */
};

#define ROUTE_PARAMS 4
#define ROUTE_SEGMENTS 16

struct route_match {
    const struct route *route;        /* NULL when none matches */
    bool other_method;                /* none matches, but one would with another method */
    const char *params[ROUTE_PARAMS]; /* in the order of the pattern */
};

/* Refuses a table with a bad pattern, too many parameters or no handler. */
int router_check(const struct route *routes, struct err *err);

/* `segments` are those of url_segments; params point into them. */
struct route_match router_find(const struct route *routes, const char *method,
                               char *const *segments, size_t n);

/* Appends the methods that the path allows: "GET, HEAD, POST, OPTIONS". Without segments, those
 * of all routes. */
void router_add_methods(const struct route *routes, char *const *segments, size_t n,
                        struct str *out);

/* The position of "{name}" among the pattern's parameters; -1 when it is not there. */
int router_param(const struct route *route, const char *name);

#endif
