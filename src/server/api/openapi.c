/* Owns the OpenAPI document: its header, and the operations of all endpoints. */
#include "server/api/openapi.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "http/problem.h"
#include "server/api/api.h"
#include "server/api/call.h"
#include "server/api/openapi_schema.h"

/* ---- parameters ------------------------------------------------------------ */

static json_t *query_schema(const struct api_query *q)
{
    json_t *o;
    switch (q->type) {
    case QUERY_INTEGER:
        o = json_pack("{s:s, s:I}", "type", "integer", "minimum", (json_int_t)q->min);
        if (q->max != INT64_MAX)
            json_object_set_new(o, "maximum", json_integer(q->max));
        if (q->fallback)
            json_object_set_new(o, "default", json_integer(q->fallback));
        return o;
    case QUERY_FLAG:
        return json_pack("{s:s, s:b}", "type", "boolean", "default", 0);
    case QUERY_CHOICE:
        o = openapi_words(q->words);
        json_object_set(o, "default", json_array_get(json_object_get(o, "enum"), 0));
        return o;
    case QUERY_SET:
        return json_pack("{s:s, s:o}", "type", "array", "items", openapi_words(q->words));
    case QUERY_IDS:
        return json_pack("{s:s, s:{s:s, s:i}}", "type", "array", "items", "type", "integer",
                         "minimum", 1);
    case QUERY_JOB:
    case QUERY_TEXT:
        break;
    }
    return openapi_type("string");
}

static json_t *query_parameter(const struct api_query *q)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "name", q->name, "in", "query", "description",
                          q->help, "schema", query_schema(q));
    if (q->example)
        json_object_set_new(o, "example", json_loads(q->example, JSON_DECODE_ANY, NULL));
    if (q->type == QUERY_SET || q->type == QUERY_IDS) /* separated by commas */
        json_object_set_new(o, "explode", json_false());
    return o;
}

static json_t *path_parameter(const char *name)
{
    bool job = !strcmp(name, "id"), token = !strcmp(name, "token");
    return json_pack("{s:s, s:s, s:b, s:s, s:{s:s}, s:s}", "name", name, "in", "path", "required",
                     1, "description",
                     job     ? "Number of the job, its name or a unique prefix of a name"
                     : token ? "Name of the token"
                     : !strcmp(name, "target") ? "Number of the target"
                                               : "Name of the node",
                     "schema", "type", "string", "example",
                     job     ? "12"
                     : token ? "ci"
                             : "host");
}

/* The parameters in the path, then those in the query. */
static json_t *parameters(const struct endpoint *e)
{
    json_t *all = json_array();
    for (const char *p = e->path; (p = strchr(p, '{')); p++) {
        AUTO_FREE char *name = xstrndup(p + 1, strcspn(p + 1, "}"));
        json_array_append_new(all, path_parameter(name));
    }
    for (const struct api_query *q = e->query; q && q->name; q++)
        json_array_append_new(all, query_parameter(q));
    return all;
}

/* ---- replies --------------------------------------------------------------- */

static const struct {
    int status;
    const char *name, *text;
} problems[] = {
    {400, "Invalid", "The request is invalid; `field` names the wrong part"},
    {401, "Unauthorized", "The token is missing, wrong, expired or revoked (only over TCP)"},
    {403, "Denied", "Your role does not allow it, or the job belongs to somebody else"},
    {404, "NotFound", "The job, attempt or node does not exist"},
    {409, "Conflict", "The state of the job does not allow it, or its name is ambiguous"},
    {413, "TooLarge", "The job needs more than the cluster has, or the request is too large"},
    {416, "BeyondEnd", "The range is beyond the end of the log"},
    {0, "Failed", "Any other error, such as 500 when the database cannot be written"},
};

static json_t *problem_responses(void)
{
    json_t *all = json_object();
    for (size_t i = 0; i < COUNT_OF(problems); i++)
        json_object_set_new(all, problems[i].name,
                            json_pack("{s:s, s:{s:{s:o}}}", "description", problems[i].text,
                                      "content", PROBLEM_TYPE, "schema", openapi_type("Problem")));
    return all;
}

static bool names_job(const struct endpoint *e)
{
    for (const struct api_query *q = e->query; q && q->name; q++)
        if (q->type == QUERY_JOB)
            return true;
    return strstr(e->path, "{id}");
}

/* Whether the endpoint can reply with this error. */
static bool can_fail(const struct endpoint *e, int status)
{
    for (size_t i = 0; i < COUNT_OF(e->errors); i++)
        if (status && e->errors[i] == status)
            return true;
    switch (status) {
    case 401:
    case 403:
        return !e->open;
    case 404:
        return names_job(e) || strstr(e->path, "{name}");
    case 409:
        return names_job(e);
    case 413:
        return e->body;
    case 416:
        return false;
    default:
        return true;
    }
}

static void add_problems(json_t *responses, const struct endpoint *e)
{
    for (size_t i = 0; i < COUNT_OF(problems); i++) {
        char status[16] = "default";
        if (!can_fail(e, problems[i].status))
            continue;
        if (problems[i].status)
            snprintf(status, sizeof status, "%d", problems[i].status);
        json_object_set_new(responses, status,
                            json_pack("{s:o}", "$ref",
                                      json_sprintf("#/components/responses/%s", problems[i].name)));
    }
}

/* Replies with the same status differ in their media type. */
static void add_reply(json_t *responses, const struct endpoint *e, const struct api_reply *r)
{
    bool media = strchr(r->type, '/') != NULL;
    char status[16];
    snprintf(status, sizeof status, "%d", r->status);
    json_t *response = json_object_get(responses, status);
    if (!response) {
        response = json_pack("{s:s, s:{}}", "description", r->help, "content");
        json_object_set_new(responses, status, response);
    }
    json_object_set_new(json_object_get(response, "content"), media ? r->type : "application/json",
                        json_pack("{s:o}", "schema", openapi_type(media ? "string" : r->type)));
    if (e->header)
        json_object_set_new(response, "headers",
                            json_pack("{s:{s:s, s:{s:s}}}", e->header, "description",
                                      e->header_help, "schema", "type", "string"));
}

static json_t *replies(const struct endpoint *e)
{
    json_t *all = json_object();
    for (size_t i = 0; i < COUNT_OF(e->replies) && e->replies[i].status; i++)
        add_reply(all, e, &e->replies[i]);
    add_problems(all, e);
    return all;
}

/* ---- operations ------------------------------------------------------------ */

static json_t *request_body(const struct endpoint *e)
{
    if (!strcmp(e->body, API_BYTES))
        return json_pack("{s:b, s:{s:{s:{s:s, s:s}}}}", "required", true, "content", API_BYTES,
                         "schema", "type", "string", "format", "binary");
    json_t *content = json_pack("{s:o}", "schema", openapi_type(e->body));
    if (e->body_example)
        json_object_set_new(content, "example", json_loads(e->body_example, 0, NULL));
    return json_pack("{s:b, s:{s:o}}", "required", !e->body_optional, "content", "application/json",
                     content);
}

static json_t *operation(const struct api_part *part, const struct endpoint *e)
{
    enum role role = endpoint_role(e);
    json_t *text = e->open ? json_string(e->description)
                           : json_sprintf("%s Needs the role %s.", e->description, role_name(role));
    json_t *o = json_pack("{s:s, s:s, s:o, s:[s], s:o, s:o}", "operationId", e->name, "summary",
                          e->summary, "description", text, "tags", part->tag, "parameters",
                          parameters(e), "responses", replies(e));
    if (e->body)
        json_object_set_new(o, "requestBody", request_body(e));
    if (e->open)
        json_object_set_new(o, "security", json_array());
    return o;
}

static void add_endpoint(json_t *paths, const struct api_part *part, const struct endpoint *e)
{
    const char *path = e->path + strlen(API_V1);
    char method[16] = "";
    for (size_t i = 0; i < sizeof method - 1 && e->method[i]; i++)
        method[i] = (char)tolower((unsigned char)e->method[i]);
    json_t *item = json_object_get(paths, path);
    if (!item) {
        item = json_object();
        json_object_set_new(paths, path, item);
    }
    json_object_set_new(item, method, operation(part, e));
}

/* ---- document -------------------------------------------------------------- */

static const char about[] =
    "Times are seconds since 1970 with fractions, durations (`_s`) are seconds, and null means "
    "unknown or none. A reply to a change is sent when the change is on disk. The unix socket "
    "needs no token; TCP does.";

/* Every tag of an api_part, in the order in which documents show them. */
static const char *const tag_texts[][2] = {
    {"Jobs", "Submit, inspect and change jobs"},
    {"Uploads", "Files that jobs need"},
    {"Nodes", "Machines that run jobs"},
    {"Policy", "The scheduling policy"},
    {"Simulator", "Reports that `trainyard sim --report` has written"},
    {"Events", "Events and decisions"},
    {"Access", "Tokens and logins"},
    {"Server", "The server itself"},
};

static json_t *tags(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < COUNT_OF(tag_texts); i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", tag_texts[i][0], "description", tag_texts[i][1]));
    return list;
}

static json_t *components(void)
{
    json_t *schemas = json_object();
    for (const struct api_part *const *p = api_parts; *p; p++)
        for (const struct api_schema *const *s = (*p)->schemas; s && *s; s++)
            json_object_set_new(schemas, (*s)->name, openapi_schema(*s));
    return json_pack("{s:o, s:o, s:{s:{s:s, s:s}}}", "schemas", schemas, "responses",
                     problem_responses(), "securitySchemes", "token", "type", "http", "scheme",
                     "bearer");
}

json_t *openapi_document(void)
{
    json_t *paths = json_object();
    for (const struct api_part *const *p = api_parts; *p; p++)
        for (const struct endpoint *e = (*p)->endpoints; e && e->name; e++)
            add_endpoint(paths, *p, e);
    return json_pack(
        "{s:s, s:{s:s, s:s, s:s, s:{s:s, s:s}}, s:[{s:s, s:s}], s:o, s:o, s:o, s:[{s:[]}]}",
        "openapi", "3.1.0", "info", "title", "Trainyard", "version", TRAINYARD_VERSION,
        "description", about, "license", "name", "Apache License 2.0", "identifier", "Apache-2.0",
        "servers", "url", API_V1, "description", "The server that returned this document", "tags",
        tags(), "paths", paths, "components", components(), "security", "token");
}
