/* The objects that the API takes and returns. A table lists the members of each object once.
 * The JSON that the server prints, the check of a request's body and the schema in the OpenAPI
 * document are derived from it. */
#ifndef SERVER_API_SCHEMA_H
#define SERVER_API_SCHEMA_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "model/speed.h"

/* The C type of a member that api_print() prints. */
enum api_print_as {
    API_AS_INTEGER, /* int64_t */
    API_AS_NUMBER,  /* double */
    API_AS_BOOLEAN, /* bool */
    API_AS_STRING,  /* const char * */
    API_AS_JSON,    /* json_t *; takes the reference */
};

/* `type` is a word of JSON Schema ("integer", "number", "string", "boolean", "object",
 * "null") or the name of a schema, followed by "[]" for a list. Alternatives are separated
 * by '|'. A leading '?' marks a member that may be missing. */
struct api_member {
    const char *name;
    const char *type;
    const char *help;
    enum api_print_as as;
    size_t at; /* offset of its value in the C struct that api_print() reads */
};

/* Members that api_print() prints. The compiler rejects a member of another C type. */
#define API_INTEGER(s, m, help) API_PRINTED(s, m, "integer", INTEGER, int64_t, help)
#define API_INTEGER_OR_NULL(s, m, help) API_PRINTED(s, m, "integer|null", INTEGER, int64_t, help)
#define API_NUMBER(s, m, help) API_PRINTED(s, m, "number", NUMBER, double, help)
#define API_NUMBER_OR_NULL(s, m, help) API_PRINTED(s, m, "number|null", NUMBER, double, help)
#define API_STRING_IF_SET(s, m, help) API_PRINTED(s, m, "?string", STRING, const char *, help)
#define API_BOOLEAN(s, m, help) API_PRINTED(s, m, "boolean", BOOLEAN, bool, help)
#define API_STRING(s, m, help) API_PRINTED(s, m, "string", STRING, const char *, help)
#define API_STRING_OR_NULL(s, m, help) API_PRINTED(s, m, "string|null", STRING, const char *, help)
/* One of the words of a schema, such as "JobState". */
#define API_WORD(s, m, schema, help) API_PRINTED(s, m, schema, STRING, const char *, help)
/* A JSON value that the caller made. NULL is printed as null. */
#define API_JSON(s, m, type, help) API_PRINTED(s, m, type, JSON, json_t *, help)

#define API_PRINTED(s, m, json, kind, ctype, text)                                                 \
    {                                                                                              \
        .name = #m, .type = json, .help = text, .as = API_AS_##kind,                               \
        .at = _Generic(&((struct s *)0)->m, ctype *                                                \
                       : offsetof(struct s, m))                                                    \
    }

/* Members that api_print() does not print: those of requests, and of objects that other code
 * prints. */
#define API_MEMBER(n, json, text)                                                                  \
    {                                                                                              \
        .name = n, .type = json, .help = text                                                      \
    }

/* The integer that stands for null. For numbers it is NAN, for strings NULL or "". */
#define API_NULL INT64_MIN

enum api_schema_kind {
    API_OBJECT,      /* has the members and no others */
    API_OPEN,        /* has the members and more, which depend on the case */
    API_MAP,         /* any names; the values have the type of the first member */
    API_WORDS,       /* one of the words in the first member's type, separated by '|' */
    API_JOB_REQUEST, /* the fields of wire/spec.h */
};

struct api_schema {
    const char *name;
    enum api_schema_kind kind;
    const struct api_schema *base;    /* its members come first; NULL = none */
    const struct api_member *members; /* ends with a NULL name */
    const char *example;              /* JSON; NULL = none */
};

/* The object with the schema's members, from a C struct. A struct whose schema has a base
 * begins with the base's struct. Takes the references of API_JSON members, and leaves out
 * members that are null where they may be missing. */
json_t *api_print(const struct api_schema *schema, const void *from);

/* Checks that `object` has every required member, no unknown ones, and only values of the
 * allowed types. On failure, *field names the invalid member; it points into the object or the
 * table. */
int api_check_object(const struct api_schema *schema, const json_t *object, const char **field,
                     struct err *err);

/* Sets the error for an unknown name; it suggests the nearest of the n known ones. `what` is
 * "member" or "parameter". Returns -1. */
int api_refuse_unknown(const char *what, const char *name, size_t n,
                       const char *(*known)(const void *ctx, size_t i), const void *ctx,
                       struct err *err);

/* Seconds; NAN for 0, which means none. */
double api_seconds(usec_t t);
/* CPUs or GPUs, with fractions. */
double api_units(units_t n);

/* Walks over the alternatives of a type: *p starts as the type and ends as "". Returns the
 * alternative and its length. */
const char *api_type_next(const char **p, size_t *n);
/* Whether an object may lack the member. */
bool api_member_optional(const struct api_member *m);

#endif
