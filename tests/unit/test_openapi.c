/* Tests of the tables of the API and the OpenAPI document that is made of them: every
 * route has its operation, every type that is named exists and is used. */
#include "server/api/openapi.h"

#include "server/api/api.h"
#include "server/api/operations.h"
#include "support/test.h"
#include "wire/spec.h"

static const struct route *find_route(const char *name)
{
    for (const struct route *r = api_routes; r->method; r++)
        if (!strcmp(r->name, name))
            return r;
    return NULL;
}

static void test_routes_and_operations(void **state)
{
    struct err err;
    size_t routes = 0, operations = 0;
    (void)state;
    assert_ok(router_check(api_routes, &err), err);
    for (const struct route *r = api_routes; r->method; r++, routes++)
        if (!api_operation_find(r->name))
            fail_msg("route %s has no operation", r->name);
    for (const struct api_operation *o = api_operations; o->route; o++, operations++) {
        if (!find_route(o->route))
            fail_msg("operation %s has no route", o->route);
        assert_true(o->reply || o->other_media);
        assert_true(o->status >= 200 && *o->summary);
    }
    assert_int_equal(routes, operations);
    assert_null(api_operation_find("nothing"));
}

/* ---- types ----------------------------------------------------------------- */

static bool is_plain(const char *word)
{
    static const char *const plain[] = {"integer", "number", "string", "boolean", "object", "null"};
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (!strcmp(word, plain[i]))
            return true;
    return false;
}

/* Marks the schemas that the type names. */
static void check_type(const char *type, bool *used)
{
    char word[64];
    for (const char *p = type + (*type == '?'); *p; p += strcspn(p, "|"), p += *p == '|') {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(p, "|"), p);
        size_t n = strlen(word);
        if (n > 2 && !strcmp(word + n - 2, "[]"))
            word[n - 2] = '\0';
        const struct api_schema *s = api_schema_find(word);
        if (s)
            used[s - api_schemas] = true;
        else if (!is_plain(word))
            fail_msg("there is no type '%s' (in '%s')", word, type);
    }
}

static void check_fields(const struct api_field *fields, bool *used)
{
    for (const struct api_field *f = fields; f && f->name; f++)
        check_type(f->type, used);
}

static void test_types(void **state)
{
    bool used[256] = {0};
    (void)state;
    used[api_schema_find("Problem") - api_schemas] = true;
    for (const struct api_operation *o = api_operations; o->route; o++) {
        check_fields(o->query, used);
        if (o->body)
            check_type(o->body, used);
        if (o->reply)
            check_type(o->reply, used);
    }
    for (const struct api_schema *s = api_schemas; s->name; s++) {
        if (s->kind != SCHEMA_WORDS)
            check_fields(s->fields, used);
        if (s->base)
            used[api_schema_find(s->base) - api_schemas] = true;
        assert_ptr_equal(api_schema_find(s->name), s);
    }
    for (const struct api_schema *s = api_schemas; s->name; s++)
        if (!used[s - api_schemas])
            fail_msg("nothing uses the schema %s", s->name);
}

/* ---- the document ---------------------------------------------------------- */

static json_t *get(json_t *o, const char *path, const char *second)
{
    json_t *v = json_object_get(json_object_get(o, path), second);
    if (!v)
        fail_msg("%s has no %s", path, second);
    return v;
}

static void test_document(void **state)
{
    json_auto_t *doc = openapi_document(api_routes);
    (void)state;
    assert_string_equal(json_string_value(json_object_get(doc, "openapi")), "3.1.0");
    size_t methods = 0, routes = 0;
    const char *path;
    json_t *item;
    json_object_foreach(json_object_get(doc, "paths"), path, item)
    {
        methods += json_object_size(item);
    }
    while (api_routes[routes].method)
        routes++;
    assert_int_equal(methods, routes);

    json_t *show = json_object_get(get(doc, "paths", "/api/v1/jobs/{id}"), "get");
    json_t *id = json_array_get(json_object_get(show, "parameters"), 0);
    assert_string_equal(json_string_value(json_object_get(id, "name")), "id");
    assert_string_equal(json_string_value(json_object_get(id, "in")), "path");
    assert_non_null(get(show, "responses", "200"));
    assert_non_null(get(show, "responses", "default"));
    json_t *health = json_object_get(get(doc, "paths", "/api/v1/health"), "get");
    assert_int_equal(json_array_size(json_object_get(health, "security")), 0);
    assert_true(json_is_array(json_object_get(health, "security")));
}

static void test_schemas(void **state)
{
    json_auto_t *doc = openapi_document(api_routes);
    json_t *schemas = get(doc, "components", "schemas");
    (void)state;
    /* A whole job has what one in a list has, and more. */
    json_t *brief = get(schemas, "Job", "properties"), *whole;
    whole = get(schemas, "JobDetail", "properties");
    assert_true(json_object_size(whole) > json_object_size(brief));
    assert_non_null(json_object_get(whole, "id"));
    assert_int_equal(json_array_size(get(schemas, "Job", "required")), json_object_size(brief));
    /* What may be missing is not required, in requests nothing is. */
    assert_int_equal(json_array_size(get(schemas, "Problem", "required")),
                     json_object_size(get(schemas, "Problem", "properties")) - 1);
    assert_null(json_object_get(json_object_get(schemas, "JobChange"), "required"));
    /* Requests have the fields of wire/spec.h. */
    json_t *request = get(schemas, "JobRequest", "properties");
    for (const struct spec_field *f = spec_fields; f->name; f++)
        assert_non_null(json_object_get(request, f->name));
    json_t *states = get(schemas, "JobState", "enum");
    assert_int_equal(json_array_size(states), 10);
    assert_string_equal(json_string_value(json_array_get(states, 0)), "held");
}

static const struct CMUnitTest tests[] = {TEST(test_routes_and_operations), TEST(test_types),
                                          TEST(test_document), TEST(test_schemas)};

int main(void)
{
    return RUN(tests);
}
