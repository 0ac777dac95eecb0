/* Owns the making of the OpenAPI document: routes, operations, schemas and the fields
 * of job requests, each from the table that the server itself uses. */
#include "server/api/openapi.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "server/api/operations.h"
#include "wire/spec.h"

/* ---- types ----------------------------------------------------------------- */

static bool is_schema(const char *word, size_t n)
{
    return n && isupper((unsigned char)*word);
}

/* One word of a type, with "[]" behind it for a list. */
static json_t *word_schema(const char *word, size_t n)
{
    bool list = n > 2 && !strncmp(word + n - 2, "[]", 2);
    n -= list ? 2 : 0;
    json_t *o = json_object();
    if (is_schema(word, n))
        json_object_set_new(o, "$ref", json_sprintf("#/components/schemas/%.*s", (int)n, word));
    else
        json_object_set_new(o, "type", json_stringn(word, n));
    return list ? json_pack("{s:s, s:o}", "type", "array", "items", o) : o;
}

/* "number|null", "Progress|null", "string[]". */
static json_t *type_schema(const char *type)
{
    json_t *all = json_array();
    for (const char *p = type + (*type == '?'); *p;) {
        size_t n = strcspn(p, "|");
        json_array_append_new(all, word_schema(p, n));
        p += n + (p[n] == '|');
    }
    if (json_array_size(all) > 1)
        return json_pack("{s:o}", "anyOf", all);
    json_t *only = json_incref(json_array_get(all, 0));
    json_decref(all);
    return only;
}

static json_t *words_schema(const char *words)
{
    json_t *all = json_array();
    for (const char *p = words; *p;) {
        size_t n = strcspn(p, "|");
        json_array_append_new(all, json_stringn(p, n));
        p += n + (p[n] == '|');
    }
    return json_pack("{s:s, s:o}", "type", "string", "enum", all);
}

static void describe(json_t *schema, const char *help)
{
    if (*help)
        json_object_set_new(schema, "description", json_string(help));
}

/* ---- schemas --------------------------------------------------------------- */

/* How a field of a job request is spelt; a choice has its words. */
static json_t *request_field(const struct spec_field *f)
{
    static const char *const types[] = {
        [SPEC_TEXT] = "string|null",
        [SPEC_BODY] = "string|null",
        [SPEC_CPUS] = "string|number|null",
        [SPEC_GPUS] = "string|number|null",
        [SPEC_COUNT] = "string|number|null",
        [SPEC_MEMORY] = "string|number|null",
        [SPEC_DURATION] = "string|number|null",
        [SPEC_WHEN] = "string|number|null",
        [SPEC_INT] = "string|integer|null",
        [SPEC_REAL] = "string|number|null",
        [SPEC_FLAG] = "string|boolean|null",
        [SPEC_SIGNAL] = "string|integer|null",
        [SPEC_WARNING] = "string|null",
        [SPEC_ARRAY] = "string|integer|null",
        [SPEC_LIST] = "string|string[]|null",
        [SPEC_MAP] = "object|string[]|null",
        [SPEC_DEPS] = "string|string[]|null",
    };
    json_t *o = f->type == SPEC_CHOICE ? words_schema(f->value) : type_schema(types[f->type]);
    describe(o, f->help);
    return o;
}

static json_t *request_schema(void)
{
    json_t *properties = json_object();
    for (const struct spec_field *f = spec_fields; f->name; f++)
        json_object_set_new(properties, f->name, request_field(f));
    return json_pack("{s:s, s:s, s:o, s:b}", "type", "object", "description",
                     "What a job is; docs/jobs.md explains each field", "properties", properties,
                     "additionalProperties", 0);
}

static void add_fields(const struct api_schema *s, json_t *properties, json_t *required)
{
    if (s->base)
        add_fields(api_schema_find(s->base), properties, required);
    for (const struct api_field *f = s->fields; f->name; f++) {
        json_t *field = type_schema(f->type);
        describe(field, f->help);
        json_object_set_new(properties, f->name, field);
        if (*f->type != '?' && !s->asked)
            json_array_append_new(required, json_string(f->name));
    }
}

static json_t *object_schema(const struct api_schema *s)
{
    json_t *properties = json_object(), *required = json_array();
    add_fields(s, properties, required);
    json_t *o = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                          "additionalProperties", s->kind == SCHEMA_OPEN);
    if (json_array_size(required))
        json_object_set(o, "required", required);
    json_decref(required);
    return o;
}

static json_t *schema_of(const struct api_schema *s)
{
    switch (s->kind) {
    case SCHEMA_WORDS:
        return words_schema(s->fields->type);
    case SCHEMA_REQUEST:
        return request_schema();
    case SCHEMA_MAP:
        return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                         type_schema(s->fields->type));
    case SCHEMA_OBJECT:
    case SCHEMA_OPEN:
        break;
    }
    return object_schema(s);
}

/* ---- operations ------------------------------------------------------------ */

static json_t *media(const char *type, json_t *schema)
{
    return json_pack("{s:{s:o}}", type, "schema", schema);
}

static json_t *parameter(const char *name, const char *in, const char *type, const char *help)
{
    return json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", name, "in", in, "required",
                     !strcmp(in, "path"), "description", help, "schema", type_schema(type));
}

/* Those in the pattern, then those of the query. */
static json_t *parameters(const struct route *route, const struct api_operation *o)
{
    json_t *all = json_array();
    for (const char *p = route->pattern; (p = strchr(p, '{')); p++) {
        AUTO_FREE char *name = xstrndup(p + 1, strcspn(p + 1, "}"));
        bool job = !strcmp(name, "id");
        json_array_append_new(
            all, parameter(name, "path", "string",
                           job ? "A number, a name or a unique prefix of one" : "The name"));
    }
    for (const struct api_field *f = o->query; f && f->name; f++)
        json_array_append_new(all, parameter(f->name, "query", f->type, f->help));
    return all;
}

static void add_response(json_t *responses, int status, const struct api_operation *o)
{
    char text[8];
    json_t *content = json_object();
    if (o->reply)
        json_object_update_new(content, media("application/json", type_schema(o->reply)));
    if (o->other_media)
        json_object_update_new(content, media(o->other_media, type_schema("string")));
    snprintf(text, sizeof text, "%d", status);
    json_object_set_new(responses, text,
                        json_pack("{s:s, s:o}", "description", o->summary, "content", content));
}

static json_t *operation(const struct route *route, const struct api_operation *o)
{
    json_t *responses = json_object();
    add_response(responses, o->status, o);
    if (o->or_status)
        add_response(responses, o->or_status, o);
    json_object_set_new(responses, "default",
                        json_pack("{s:s, s:o}", "description", "It did not work", "content",
                                  media("application/problem+json", type_schema("Problem"))));
    json_t *out = json_pack("{s:s, s:s, s:o, s:o}", "operationId", route->name, "summary",
                            o->summary, "parameters", parameters(route, o), "responses", responses);
    if (o->body)
        json_object_set_new(out, "requestBody",
                            json_pack("{s:b, s:o}", "required", !o->body_optional, "content",
                                      media("application/json", type_schema(o->body))));
    if (route->open)
        json_object_set_new(out, "security", json_array());
    return out;
}

static void add_route(json_t *paths, const struct route *route)
{
    char method[16];
    size_t n = strlen(route->method);
    json_t *path = json_object_get(paths, route->pattern);
    if (!path) {
        path = json_object();
        json_object_set_new(paths, route->pattern, path);
    }
    for (size_t i = 0; i <= n && i < sizeof method; i++)
        method[i] = (char)tolower((unsigned char)route->method[i]);
    json_object_set_new(path, method, operation(route, api_operation_find(route->name)));
}

json_t *openapi_document(const struct route *routes)
{
    json_t *paths = json_object(), *schemas = json_object();
    for (const struct route *r = routes; r->method; r++)
        add_route(paths, r);
    for (const struct api_schema *s = api_schemas; s->name; s++)
        json_object_set_new(schemas, s->name, schema_of(s));
    json_t *o = json_pack(
        "{s:s, s:{s:s, s:s, s:s}, s:o, s:{s:o, s:{s:{s:s, s:s}}}, s:[{s:[]}]}", "openapi", "3.1.0",
        "info", "title", "Trainyard", "version", TRAINYARD_VERSION, "description",
        "Times are seconds since 1970 with fractions, null is not known. The unix socket needs no "
        "token, TCP does.",
        "paths", paths, "components", "schemas", schemas, "securitySchemes", "token", "type",
        "http", "scheme", "bearer", "security", "token");
    return o;
}
