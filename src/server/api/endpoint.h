/* An endpoint of the API: one entry defines its path, parameters, body, replies and handler.
 * Routing, the checks of query and body, and the OpenAPI document are derived from the entry,
 * so a handler sees only valid requests. */
#ifndef SERVER_API_ENDPOINT_H
#define SERVER_API_ENDPOINT_H

#include "http/reply.h"
#include "http/request.h"
#include "server/api/schema.h"
#include "server/yard.h"

#define API_V1 "/api/v1"

enum api_query_type {
    QUERY_INTEGER, /* a whole number within [min, max] */
    QUERY_FLAG,    /* 1, true, yes, on, or 0, false, no, off; as a number 1 or 0 */
    QUERY_TEXT,
    QUERY_CHOICE, /* one of `words`; as a number its index */
    QUERY_SET,    /* some of `words`, separated by commas; as a number bits by index */
    QUERY_JOB,    /* a job's id, name or unique prefix of one; as a number its id */
    QUERY_IDS,    /* whole numbers from 1, separated by commas */
};

struct api_query {
    const char *name;
    enum api_query_type type;
    const char *help;
    int64_t min, max;    /* INT64_MAX = unlimited */
    int64_t fallback;    /* the number if the parameter is missing */
    const char *words;   /* "first|second" */
    const char *example; /* JSON; NULL = none */
};

/* Maximum number of parameters of an endpoint. */
enum { API_QUERIES = 12 };

/* A parameter of a request. */
struct api_value {
    bool given;
    int64_t number;
    const char *text; /* as given; NULL if missing */
};

/* A request that was checked against its endpoint. */
struct api_call {
    struct yard *yard;
    const struct request *request;
    struct reply *reply;
    struct api_value query[API_QUERIES]; /* in the order of the endpoint's table */
    json_t *body;                        /* an object; NULL if the endpoint takes none */
    enum role role;                      /* of whoever sent it; ROLE_NONE if the endpoint is open */
    int64_t job;                         /* from {id} in the path */
    uint32_t node;                       /* from {name} in the path */
};

/* Replies through call->reply, now or in a later turn. */
typedef void (*api_handler)(const struct api_call *call);

struct api_reply {
    int status;
    const char *type; /* of the JSON, or a media type such as "text/plain" */
    const char *help;
};

struct endpoint {
    const char *name; /* operationId, and the route's name in logs */
    const char *method, *path;
    api_handler handle;
    const char *summary, *description;
    const struct api_query *query; /* ends with a NULL name; NULL = none */
    const char *body;              /* type; NULL = none */
    bool body_optional;
    const char *body_example;         /* JSON; NULL = none */
    struct api_reply replies[3];      /* on success; ends with status 0 */
    const char *header, *header_help; /* of its replies; NULL = none */
    /* Who may use it. By default GET needs ROLE_VIEWER and everything else ROLE_USER; users may
     * only use what needs ROLE_USER and names a job for their own jobs. */
    enum role role;
    /* Errors in addition to the implied ones: 400; 401 and 403 unless it is open; 404 and 409 if it
     * names a job, 404 if it names a node; 413 if it takes a body. */
    int errors[3];
    bool open;        /* for everybody, also without a token */
    const char *also; /* second path, not in the OpenAPI document; NULL = none */
};

/* The type of a body that the handler takes as it is. */
#define API_BYTES "application/octet-stream"

/* A file of endpoints, and the schemas that it defines. */
struct api_part {
    const char *tag;                         /* heading of its endpoints in the document */
    const struct endpoint *endpoints;        /* ends with a NULL name; NULL = none */
    const struct api_schema *const *schemas; /* ends with NULL; NULL = none */
};

#endif
