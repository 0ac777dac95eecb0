/* Tests of the API's tables and of the OpenAPI document that is made from them: every entry is
 * complete, every type that is named exists and is used, every example fits. */
#include "server/api/openapi.h"

#include "server/api/api.h"
#include "support/test.h"
#include "wire/spec_json.h"

#define EACH_PART(p) for (const struct api_part *const *p = api_parts; *p; p++)
#define EACH_ENDPOINT(p, e)                                                                        \
    EACH_PART(p)                                                                                   \
    for (const struct endpoint *e = (*p)->endpoints; e && e->name; e++)
#define EACH_SCHEMA(p, s)                                                                          \
    EACH_PART(p)                                                                                   \
    for (const struct api_schema *const *s = (*p)->schemas; s && *s; s++)

static void check_query(const struct endpoint *e)
{
    size_t n = 0;
    for (const struct api_query *q = e->query; q && q->name; q++, n++) {
        assert_true(*q->help);
        assert_true((q->type == QUERY_CHOICE || q->type == QUERY_SET) == (q->words != NULL));
        if (q->type == QUERY_INTEGER)
            assert_true(q->max > q->min && q->fallback <= q->max);
    }
    if (n > API_QUERIES)
        fail_msg("%s has %zu parameters; there is room for %d", e->name, n, API_QUERIES);
}

static void test_endpoints(void **state)
{
    struct err err;
    struct api *api = api_create(NULL);
    size_t routes = 0, endpoints = 0, pages = 0;
    (void)state;
    assert_ok(router_check(api->routes, &err), err);
    EACH_ENDPOINT(p, e)
    {
        endpoints += e->also ? 2 : 1;
        assert_true(e->handle && *e->summary && *e->description && *(*p)->tag);
        assert_int_equal(strncmp(e->path, API_V1 "/", strlen(API_V1 "/")), 0);
        assert_true(e->replies[0].status >= 200 && e->replies[0].status < 300);
        check_query(e);
    }
    for (const struct route *r = api->routes; r->method; r++, routes++)
        if (api->endpoints[routes])
            assert_string_equal(api->endpoints[routes]->name, r->name);
        else
            pages++;
    assert_int_equal(routes, endpoints + pages);
    assert_true(pages > 0);
    api_free(api);
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

static const struct api_schema *find_schema(const char *word, size_t n)
{
    AUTO_FREE char *name = xstrndup(word, n);
    return api_schema_find(name);
}

/* Whether the type names the schema; fails when it names one that does not exist. */
static bool type_names(const char *type, const struct api_schema *wanted)
{
    bool found = false;
    for (size_t n; *type;) {
        const char *word = api_type_next(&type, &n);
        n -= n > 2 && word[n - 1] == ']' ? 2 : 0;
        AUTO_FREE char *name = xstrndup(word, n);
        const struct api_schema *s = find_schema(word, n);
        if (!s && !is_plain(name) && !strchr(name, '/'))
            fail_msg("there is no type '%s'", name);
        found |= s == wanted;
    }
    return found;
}

static bool endpoint_uses(const struct endpoint *e, const struct api_schema *s)
{
    bool used = e->body && type_names(e->body, s);
    for (size_t i = 0; i < COUNT_OF(e->replies) && e->replies[i].status; i++)
        used |= type_names(e->replies[i].type, s);
    return used;
}

static bool schema_uses(const struct api_schema *user, const struct api_schema *s)
{
    bool used = user->base == s;
    if (user->kind == API_WORDS || user->kind == API_JOB_REQUEST)
        return false;
    for (const struct api_member *m = user->members; m->name; m++) {
        used |= type_names(m->type, s);
        assert_true(user->kind == API_MAP || *m->help);
    }
    return used;
}

static void test_types(void **state)
{
    (void)state;
    EACH_SCHEMA(p, s)
    {
        bool used = !strcmp((*s)->name, "Problem");
        EACH_ENDPOINT(q, e) used |= endpoint_uses(e, *s);
        EACH_SCHEMA(q, user) used |= schema_uses(*user, *s);
        if (!used)
            fail_msg("nothing uses the schema %s", (*s)->name);
        assert_ptr_equal(api_schema_find((*s)->name), *s);
    }
    assert_null(api_schema_find("Nonsense"));
}

/* ---- printing and checking ------------------------------------------------- */

struct printed {
    int64_t count, maybe;
    double size, share;
    bool flag;
    const char *name, *title, *word, *extra;
    json_t *list;
};

static const struct api_member printed_members[] = {
    API_INTEGER(printed, count, ""),
    API_INTEGER_OR_NULL(printed, maybe, ""),
    API_NUMBER(printed, size, ""),
    API_NUMBER_OR_NULL(printed, share, ""),
    API_BOOLEAN(printed, flag, ""),
    API_STRING(printed, name, ""),
    API_STRING_OR_NULL(printed, title, ""),
    API_WORD(printed, word, "JobState", ""),
    API_STRING_IF_SET(printed, extra, ""),
    API_JSON(printed, list, "integer[]", ""),
    {0},
};

static const struct api_schema printed_schema = {"Sample", .members = printed_members};

static void assert_printed(const struct printed *s, const char *want)
{
    json_auto_t *o = api_print(&printed_schema, s);
    AUTO_FREE char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, want);
}

static void test_print(void **state)
{
    (void)state;
    assert_printed(
        &(struct printed){1, 2, 0.5, 1.5, true, "a", "b", "held", "c", json_pack("[i]", 7)},
        "{\"count\":1,\"maybe\":2,\"size\":0.5,\"share\":1.5,\"flag\":true,"
        "\"name\":\"a\",\"title\":\"b\",\"word\":\"held\",\"extra\":\"c\",\"list\":[7]}");
    assert_printed(&(struct printed){.maybe = API_NULL, .share = NAN, .name = "cut \xc3"},
                   "{\"count\":0,\"maybe\":null,\"size\":0.0,\"share\":null,\"flag\":false,"
                   "\"name\":\"cut \",\"title\":null,\"word\":\"\",\"list\":null}");
}

static const struct api_member asked_members[] = {
    API_MEMBER("size", "string|number|null", ""),
    API_MEMBER("hold", "?boolean", ""),
    API_MEMBER("ids", "?integer[]", ""),
    API_MEMBER("rank", "?integer", ""),
    {0},
};

static const struct api_schema asked_schema = {"Asked", .members = asked_members};

static void assert_refused(const char *body, const char *field, const char *words)
{
    json_auto_t *o = json_loads(body, 0, NULL);
    const char *at = NULL;
    struct err err;
    assert_error(api_check_object(&asked_schema, o, &at, &err), err, ERR_INVALID, words);
    assert_string_equal(at, field);
}

static void test_check(void **state)
{
    static const char *const fine[] = {"{\"size\":1}", "{\"size\":null,\"hold\":false}",
                                       "{\"size\":\"1-2\",\"ids\":[1],\"rank\":3}"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fine); i++) {
        json_auto_t *o = json_loads(fine[i], 0, NULL);
        const char *at;
        struct err err;
        assert_ok(api_check_object(&asked_schema, o, &at, &err), err);
    }
    assert_refused("{}", "size", "size: this member is required");
    assert_refused("{\"size\":true}", "size", "size: expected a string, a number or null");
    assert_refused("{\"size\":1,\"hold\":\"yes\"}", "hold", "hold: expected true or false");
    assert_refused("{\"size\":1,\"ids\":{}}", "ids", "ids: expected a list");
    assert_refused("{\"size\":1,\"rank\":1.5}", "rank", "rank: expected a whole number");
    assert_refused("{\"size\":1,\"hodl\":true}", "hodl", "did you mean 'hold'?");
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
    json_auto_t *doc = openapi_document();
    size_t methods = 0, endpoints = 0;
    const char *path;
    json_t *item;
    (void)state;
    assert_string_equal(json_string_value(json_object_get(doc, "openapi")), "3.1.0");
    json_object_foreach(json_object_get(doc, "paths"), path, item)
    {
        methods += json_object_size(item);
    }
    EACH_ENDPOINT(p, e) endpoints++;
    assert_int_equal(methods, endpoints);

    json_t *show = json_object_get(get(doc, "paths", "/jobs/{id}"), "get");
    json_t *id = json_array_get(json_object_get(show, "parameters"), 0);
    assert_string_equal(json_string_value(json_object_get(id, "name")), "id");
    assert_string_equal(json_string_value(json_object_get(id, "in")), "path");
    static const char *const statuses[] = {"200", "400", "401", "403", "404", "409", "default"};
    assert_int_equal(json_object_size(json_object_get(show, "responses")), COUNT_OF(statuses));
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        assert_non_null(get(show, "responses", statuses[i]));
    json_t *health = json_object_get(get(doc, "paths", "/health"), "get");
    assert_int_equal(json_array_size(json_object_get(health, "security")), 0);
    assert_true(json_is_array(json_object_get(health, "security")));
    assert_null(json_object_get(json_object_get(health, "responses"), "401"));
}

static bool has_tag(const json_t *doc, const char *name)
{
    size_t i;
    json_t *tag;
    json_array_foreach(json_object_get(doc, "tags"), i, tag)
    {
        if (!strcmp(json_string_value(json_object_get(tag, "name")), name))
            return true;
    }
    return false;
}

static void test_tags(void **state)
{
    json_auto_t *doc = openapi_document();
    (void)state;
    for (const struct api_part *const *p = api_parts; *p; p++)
        if ((*p)->tag && !has_tag(doc, (*p)->tag))
            fail_msg("the tag %s has no description in the document", (*p)->tag);
}

/* The server would accept every example of a body. */
static void test_examples(void **state)
{
    (void)state;
    EACH_ENDPOINT(p, e)
    {
        json_auto_t *body = e->body_example ? json_loads(e->body_example, 0, NULL) : NULL;
        const struct api_schema *schema = e->body ? api_schema_find(e->body) : NULL;
        struct err err;
        const char *field = NULL;
        struct spec spec;
        if (!e->body_example)
            continue;
        if (schema) {
            assert_ok(api_check_object(schema, body, &field, &err), err);
            continue;
        }
        spec_init(&spec);
        assert_ok(spec_from_json(body, &spec, &field, &err), err);
        spec_done(&spec);
    }
}

static void test_schemas(void **state)
{
    json_auto_t *doc = openapi_document();
    json_t *schemas = get(doc, "components", "schemas");
    (void)state;
    /* A whole job has what one in a list has, and more. */
    json_t *brief = get(schemas, "Job", "properties"), *whole;
    whole = get(schemas, "JobDetail", "properties");
    assert_true(json_object_size(whole) > json_object_size(brief));
    assert_non_null(json_object_get(whole, "id"));
    assert_int_equal(json_array_size(get(schemas, "Job", "required")),
                     json_object_size(brief) - 1); /* `fold` is in some lists only */
    /* What may be missing is not required. */
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

static const struct CMUnitTest tests[] = {
    TEST(test_endpoints), TEST(test_types),    TEST(test_print),   TEST(test_check),
    TEST(test_document),  TEST(test_examples), TEST(test_schemas), TEST(test_tags),
};

int main(void)
{
    return RUN(tests);
}
