/* What the API takes and gives, as tables: each route's operation with its query
 * parameters and bodies, and the schemas of those. Handlers refuse what the tables do
 * not name, and the OpenAPI document is made of them, so neither can say otherwise. */
#ifndef SERVER_API_OPERATIONS_H
#define SERVER_API_OPERATIONS_H

#include <stdbool.h>

/* A type is a word of JSON Schema ("integer", "number", "string", "boolean", "object",
 * "null") or the name of a schema, with "[]" behind it for a list; several are
 * separated by '|'. A '?' before all says that the member may be missing, which those
 * of requests always may. */
struct api_field {
    const char *name;
    const char *type;
    const char *help;
};

enum schema_kind {
    SCHEMA_OBJECT,  /* has the fields, and no others */
    SCHEMA_OPEN,    /* has the fields, and more that depend on the case */
    SCHEMA_MAP,     /* any names; the values have the type of the first field */
    SCHEMA_WORDS,   /* one of the words in the first field's type, separated by '|' */
    SCHEMA_REQUEST, /* a job request: the fields of wire/spec.h */
};

struct api_schema {
    const char *name;
    enum schema_kind kind;
    bool asked;                     /* in requests: no member must be there */
    const char *base;               /* schema whose fields it has, too; NULL = none */
    const struct api_field *fields; /* ends with a NULL name */
};

struct api_operation {
    const char *route; /* its name */
    const char *summary;
    const struct api_field *query; /* ends with a NULL name; NULL = takes none */
    const char *body;              /* type; NULL = takes none */
    bool body_optional;
    int status, or_status;   /* of success; or_status 0 = there is no other */
    const char *reply;       /* type of the JSON in it; NULL = none */
    const char *other_media; /* media type that it can have instead, or alone */
};

extern const struct api_operation api_operations[]; /* ends with a NULL route */
extern const struct api_schema api_schemas[];       /* ends with a NULL name */

/* NULL when there is none. */
const struct api_operation *api_operation_find(const char *route);
const struct api_schema *api_schema_find(const char *name);

#endif
