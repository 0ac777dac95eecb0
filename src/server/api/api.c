/* Owns the table of routes, what all handlers ask first, and the answers about the
 * server itself. */
#include "server/api/api.h"

#include <string.h>

#include "base/str.h"
#include "base/version.h"
#include "server/api/handlers.h"
#include "server/api/job_view.h"
#include "server/api/openapi.h"
#include "server/api/operations.h"
#include "store/schema.h"
#include "wire/value.h"

/* ---- what is asked --------------------------------------------------------- */

static const char *field_name(const void *ctx, size_t i)
{
    return ((const struct api_field *)ctx)[i].name;
}

/* How many fields there are; the index of the one of this name, or that number. */
static size_t find_field(const struct api_field *fields, const char *name, size_t *n)
{
    size_t at = SIZE_MAX;
    for (*n = 0; fields && fields[*n].name; ++*n)
        if (!strcmp(fields[*n].name, name))
            at = *n;
    return at < *n ? at : *n;
}

static void refuse_unknown(struct reply *r, const struct api_field *fields, size_t n,
                           const char *what, const char *name)
{
    char shown[VALUE_SHOWN];
    struct err err;
    const char *meant = n ? str_nearest(name, n, field_name, fields) : NULL;
    value_show(name, shown);
    if (meant)
        err_set(&err, ERR_INVALID, "unknown %s '%s'; did you mean '%s'?", what, shown, meant);
    else
        err_set(&err, ERR_INVALID, "unknown %s '%s'%s", what, shown,
                n ? "" : "; there is none to give here");
    reply_problem(r, &err, shown);
}

bool api_check_query(const struct request *q, struct reply *r)
{
    const struct api_operation *o = api_operation_find(q->route->name);
    for (size_t i = 0; i < q->query.n; i++) {
        const char *name = q->query.at[i].name;
        size_t n;
        if (find_field(o->query, name, &n) == n) {
            refuse_unknown(r, o->query, n, "parameter", name);
            return false;
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(q->query.at[k].name, name) != 0)
                continue;
            struct err err;
            err_set(&err, ERR_INVALID, "%s: given more than once", name);
            reply_problem(r, &err, name);
            return false;
        }
    }
    return true;
}

bool api_get_int(const struct request *q, struct reply *r, const char *name, int64_t lo, int64_t hi,
                 int64_t *value)
{
    struct err err;
    if (request_query_int(q, name, lo, hi, value, &err) == 0)
        return true;
    reply_problem(r, &err, name);
    return false;
}

bool api_get_flag(const struct request *q, struct reply *r, const char *name, bool *value)
{
    struct err err;
    const char *text = request_query(q, name);
    if (!text || value_flag(text, value, &err) == 0)
        return true;
    err_prefix(&err, "%s", name);
    reply_problem(r, &err, name);
    return false;
}

bool api_find_job(struct yard *y, const struct request *q, struct reply *r, int64_t *id)
{
    struct err err;
    if (yard_find(y, request_param(q, "id"), id, &err) == 0)
        return true;
    reply_problem(r, &err, "id");
    return false;
}

/* The members of a schema that is an object with a name of its own. */
static bool check_members(const struct api_schema *schema, json_t *body, struct reply *r)
{
    const char *key;
    json_t *value;
    json_object_foreach(body, key, value)
    {
        size_t n;
        if (find_field(schema->fields, key, &n) < n)
            continue;
        refuse_unknown(r, schema->fields, n, "member", key);
        return false;
    }
    return true;
}

bool api_get_body(const struct request *q, struct reply *r, json_t **body)
{
    const struct api_operation *o = api_operation_find(q->route->name);
    const struct api_schema *schema = api_schema_find(o->body);
    struct err err;
    json_auto_t *got = NULL;
    if (!q->body_n && o->body_optional) {
        *body = json_object();
        return true;
    }
    if (request_json(q, &got, &err) < 0) {
        reply_problem(r, &err, NULL);
        return false;
    }
    if (!json_is_object(got)) {
        err_set(&err, ERR_INVALID, "the body must be a JSON object");
        reply_problem(r, &err, NULL);
        return false;
    }
    if (schema && schema->kind == SCHEMA_OBJECT && !check_members(schema, got, r))
        return false;
    *body = json_incref(got);
    return true;
}

void api_reply_job(struct yard *y, struct reply *r, int status, int64_t id)
{
    struct err err;
    json_t *job = NULL;
    if (job_view_show(y, id, &job, &err) < 0)
        reply_problem(r, &err, NULL);
    else
        turn_reply(y, r, status, job);
}

/* ---- the server itself ----------------------------------------------------- */

static void version(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    if (api_check_query(q, r))
        reply_json(r, 200,
                   json_pack("{s:s, s:s, s:i}", "version", TRAINYARD_VERSION, "api", "v1", "schema",
                             schema_current.n));
}

static void health(const struct request *q, struct reply *r, void *ctx)
{
    const struct yard *y = ctx;
    if (!api_check_query(q, r))
        return;
    if (y->turn.failing)
        reply_json(r, 503, json_pack("{s:s, s:s}", "status", "failing", "detail", y->turn.failure));
    else
        reply_json(r, 200, json_pack("{s:s}", "status", "ok"));
}

static void ready(const struct request *q, struct reply *r, void *ctx)
{
    const struct yard *y = ctx;
    if (api_check_query(q, r))
        reply_json(r, y->ready ? 200 : 503, json_pack("{s:b}", "ready", y->ready));
}

static void openapi(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    if (api_check_query(q, r))
        reply_json(r, 200, openapi_document(api_routes));
}

/* ---- the table ------------------------------------------------------------- */

#define V1 "/api/v1"

const struct route api_routes[] = {
    {"GET", V1 "/version", version, "version", false},
    {"GET", V1 "/health", health, "health", true},
    {"GET", V1 "/ready", ready, "ready", true},
    {"GET", V1 "/openapi.json", openapi, "openapi", false},
    {"POST", V1 "/jobs", api_jobs_submit, "jobs_submit", false},
    {"GET", V1 "/jobs", api_jobs_list, "jobs_list", false},
    {"GET", V1 "/jobs/{id}", api_job_show, "job_show", false},
    {"PATCH", V1 "/jobs/{id}", api_job_change, "job_change", false},
    {"POST", V1 "/jobs/{id}/cancel", api_job_cancel, "job_cancel", false},
    {"POST", V1 "/jobs/{id}/hold", api_job_hold, "job_hold", false},
    {"POST", V1 "/jobs/{id}/release", api_job_release, "job_release", false},
    {"POST", V1 "/jobs/{id}/requeue", api_job_requeue, "job_requeue", false},
    {"POST", V1 "/jobs/{id}/resize", api_job_resize, "job_resize", false},
    {"GET", V1 "/jobs/{id}/logs", api_job_logs, "job_logs", false},
    {"GET", V1 "/jobs/{id}/progress", api_job_progress, "job_progress", false},
    {"GET", V1 "/jobs/{id}/explain", api_job_explain, "job_explain", false},
    {"GET", V1 "/jobs/{id}/hosts", api_job_hosts, "job_hosts", false},
    {"GET", V1 "/nodes", api_nodes_list, "nodes_list", false},
    {"GET", V1 "/nodes/{name}", api_node_show, "node_show", false},
    {"POST", V1 "/nodes/{name}/drain", api_node_drain, "node_drain", false},
    {"POST", V1 "/nodes/{name}/undrain", api_node_undrain, "node_undrain", false},
    {"GET", V1 "/policy", api_policy_show, "policy_show", false},
    {"PUT", V1 "/policy", api_policy_set, "policy_set", false},
    {"GET", V1 "/events", api_events, "events", false},
    {"GET", V1 "/decisions", api_decisions, "decisions", false},
    {0},
};
