/* Owns the schemas of the OpenAPI document: types, objects, and the fields of job requests. */
#include "server/api/openapi_schema.h"

#include <ctype.h>
#include <string.h>

#include "wire/spec.h"

/* ---- types ----------------------------------------------------------------- */

/* One alternative of a type. */
static json_t *word_schema(const char *word, size_t n)
{
    bool list = n > 2 && word[n - 1] == ']';
    n -= list ? strlen("[]") : 0;
    json_t *o = json_object();
    if (isupper((unsigned char)*word))
        json_object_set_new(o, "$ref", json_sprintf("#/components/schemas/%.*s", (int)n, word));
    else
        json_object_set_new(o, "type", json_stringn(word, n));
    return list ? json_pack("{s:s, s:o}", "type", "array", "items", o) : o;
}

/* Whether every alternative is a plain type, so that a list of types is enough. */
static bool is_plain(const json_t *alternatives)
{
    for (size_t i = 0; i < json_array_size(alternatives); i++) {
        const json_t *a = json_array_get(alternatives, i);
        if (!json_object_get(a, "type") || json_object_size(a) > 1)
            return false;
    }
    return true;
}

json_t *openapi_type(const char *type)
{
    json_auto_t *all = json_array();
    for (size_t n; *type;) {
        const char *word = api_type_next(&type, &n);
        json_array_append_new(all, word_schema(word, n));
    }
    if (json_array_size(all) == 1)
        return json_incref(json_array_get(all, 0));
    if (!is_plain(all))
        return json_pack("{s:O}", "anyOf", all);
    json_t *words = json_array();
    for (size_t i = 0; i < json_array_size(all); i++)
        json_array_append(words, json_object_get(json_array_get(all, i), "type"));
    return json_pack("{s:o}", "type", words);
}

json_t *openapi_words(const char *words)
{
    json_t *all = json_array();
    for (size_t n; *words;) {
        const char *word = api_type_next(&words, &n);
        json_array_append_new(all, json_stringn(word, n));
    }
    return json_pack("{s:s, s:o}", "type", "string", "enum", all);
}

/* ---- job requests ---------------------------------------------------------- */

/* The schema of a field of a job request. */
static json_t *request_field(const struct spec_field *f)
{
    static const char *const types[] = {
        [SPEC_TEXT] = "string|null",          [SPEC_BODY] = "string|null",
        [SPEC_CPUS] = "string|number|null",   [SPEC_GPUS] = "string|number|null",
        [SPEC_COUNT] = "string|number|null",  [SPEC_MEMORY] = "string|number|null",
        [SPEC_LEASE] = "string|number|null",  [SPEC_DURATION] = "string|number|null",
        [SPEC_WHEN] = "string|number|null",   [SPEC_INT] = "string|integer|null",
        [SPEC_REAL] = "string|number|null",   [SPEC_TOTAL] = "string|integer|null",
        [SPEC_FLAG] = "string|boolean|null",  [SPEC_SIGNAL] = "string|integer|null",
        [SPEC_WARNING] = "string|null",       [SPEC_IF] = "string|null",
        [SPEC_FLAT] = "string|null",          [SPEC_ARRAY] = "string|integer|null",
        [SPEC_LIST] = "string|string[]|null", [SPEC_MAP] = "object|string[]|null",
        [SPEC_DEPS] = "string|string[]|null",
    };
    json_t *o = f->type == SPEC_CHOICE ? openapi_words(f->value) : openapi_type(types[f->type]);
    json_object_set_new(o, "description", json_string(f->help));
    return o;
}

static json_t *request_schema(void)
{
    json_t *properties = json_object();
    for (const struct spec_field *f = spec_fields; f->name; f++)
        json_object_set_new(properties, f->name, request_field(f));
    return json_pack("{s:s, s:s, s:o, s:b}", "type", "object", "description",
                     "A job; docs/jobs.md explains each field", "properties", properties,
                     "additionalProperties", 0);
}

/* ---- objects --------------------------------------------------------------- */

static void add_members(const struct api_schema *s, json_t *properties, json_t *required)
{
    if (s->base)
        add_members(s->base, properties, required);
    for (const struct api_member *m = s->members; m->name; m++) {
        json_t *member = openapi_type(m->type);
        json_object_set_new(member, "description", json_string(m->help));
        json_object_set_new(properties, m->name, member);
        if (!api_member_optional(m))
            json_array_append_new(required, json_string(m->name));
    }
}

static json_t *object_schema(const struct api_schema *s)
{
    json_auto_t *required = json_array();
    json_t *properties = json_object();
    add_members(s, properties, required);
    json_t *o = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                          "additionalProperties", s->kind == API_OPEN);
    if (json_array_size(required))
        json_object_set(o, "required", required);
    if (s->example)
        json_object_set_new(o, "examples", json_pack("[o]", json_loads(s->example, 0, NULL)));
    return o;
}

json_t *openapi_schema(const struct api_schema *s)
{
    switch (s->kind) {
    case API_WORDS:
        return openapi_words(s->members->type);
    case API_JOB_REQUEST:
        return request_schema();
    case API_MAP:
        return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                         openapi_type(s->members->type));
    case API_OBJECT:
    case API_OPEN:
        break;
    }
    return object_schema(s);
}
