/* Owns the endpoints about the server itself: version, health, readiness, and the OpenAPI
 * document. */
#include "base/version.h"
#include "server/api/openapi.h"
#include "server/api/parts.h"
#include "store/schema.h"

/* ---- version --------------------------------------------------------------- */

struct version_view {
    const char *version, *api;
    int64_t schema;
};

static const struct api_member version_members[] = {
    API_STRING(version_view, version, "Version of the program"),
    API_STRING(version_view, api, "Version of the API"),
    API_INTEGER(version_view, schema, "Version of the database's schema"),
    {0},
};

static const struct api_schema version_schema = {"Version", .members = version_members};

static void show_version(const struct api_call *c)
{
    struct version_view v = {TRAINYARD_VERSION, "v1", schema_current.n};
    reply_json(c->reply, 200, api_print(&version_schema, &v));
}

/* ---- health ---------------------------------------------------------------- */

struct health_view {
    const char *status, *detail;
};

static const struct api_member health_members[] = {
    API_STRING(health_view, status, "ok, degraded or failing"),
    API_STRING_IF_SET(health_view, detail, "What is wrong"),
    {0},
};

static const struct api_schema health_schema = {"Health", .members = health_members};

/* Anybody may ask: the reasons are for those who may see the nodes. */
static void add_trouble(struct str *out, const struct yard_node *n)
{
    if (n->lost || n->refusals)
        str_addf(out, "%snode %s %s", out->n ? ", " : "", n->name,
                 n->lost ? "does not respond" : "fails to start jobs");
}

static void show_health(const struct api_call *c)
{
    const struct turn *t = &c->yard->turn;
    struct str trouble = {0};
    for (size_t i = 0; i < c->yard->nodes.n; i++)
        if (!c->yard->nodes.at[i].gone)
            add_trouble(&trouble, &c->yard->nodes.at[i]);
    if (trouble.n)
        str_add(&trouble, "; `trainyard nodes` shows why");
    struct health_view v = {
        .status = t->failing  ? "failing"
                  : trouble.n ? "degraded"
                              : "ok",
        .detail = t->failing ? t->failure : trouble.at,
    };
    reply_json(c->reply, t->failing ? 503 : 200, api_print(&health_schema, &v));
    str_done(&trouble);
}

struct ready_view {
    bool ready;
};

static const struct api_member ready_members[] = {
    API_BOOLEAN(ready_view, ready, "Whether the server accepts requests"),
    {0},
};

static const struct api_schema ready_schema = {"Ready", .members = ready_members};

static void show_ready(const struct api_call *c)
{
    struct ready_view v = {c->yard->ready};
    reply_json(c->reply, v.ready ? 200 : 503, api_print(&ready_schema, &v));
}

/* ---- the document ---------------------------------------------------------- */

static void show_openapi(const struct api_call *c)
{
    reply_json(c->reply, 200, openapi_document());
}

/* Printed by http/problem.c. */
static const struct api_member problem_members[] = {
    API_MEMBER("type", "string", "Always about:blank"),
    API_MEMBER("title", "string", "The status in words"),
    API_MEMBER("status", "integer", "The status of the reply"),
    API_MEMBER("code", "string",
               "What went wrong, for programs: invalid, not_found, conflict, ..."),
    API_MEMBER("detail", "string", "What went wrong and what to do about it, for people"),
    API_MEMBER("field", "?string", "The part of the request that is wrong"),
    {0},
};

static const struct api_schema problem_schema = {
    "Problem", .members = problem_members,
    .example = "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
               "\"code\":\"invalid\",\"detail\":\"unknown parameter 'lmit'; did you mean "
               "'limit'?\",\"field\":\"lmit\"}"};

/* The body of requests that need none. */
static const struct api_member no_members[] = {{0}};
static const struct api_schema nothing_schema = {"Nothing", .members = no_members};

static const struct api_schema *const schemas[] = {&version_schema, &health_schema,  &ready_schema,
                                                   &problem_schema, &nothing_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "version",
        .method = "GET",
        .path = API_V1 "/version",
        .handle = show_version,
        .summary = "Show the versions of server, API and database",
        .description = "For programs that need a certain version.",
        .replies = {{200, "Version", "The versions"}},
    },
    {
        .name = "health",
        .method = "GET",
        .path = API_V1 "/health",
        .handle = show_health,
        .summary = "Check whether the server can work",
        .description = "For monitoring.",
        .replies = {{200, "Health", "The server works"},
                    {503, "Health", "The server cannot write to its database"}},
        .open = true,
    },
    {
        .name = "ready",
        .method = "GET",
        .path = API_V1 "/ready",
        .handle = show_ready,
        .summary = "Check whether the server accepts requests",
        .description = "For scripts that have just started the server.",
        .replies = {{200, "Ready", "The server is ready"},
                    {503, "Ready", "The server is still starting"}},
        .open = true,
    },
    {
        .name = "openapi",
        .method = "GET",
        .path = API_V1 "/openapi.json",
        .also = "/openapi.json",
        .handle = show_openapi,
        .summary = "Show this document",
        .description = "Also at /openapi.json.",
        .replies = {{200, "object", "An OpenAPI 3.1 document"}},
    },
    {0},
};

const struct api_part api_part_about = {"Server", endpoints, schemas};
