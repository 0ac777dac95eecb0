/* Owns the checks of requests before their handler runs, and the replies that several
 * handlers share. */
#include "server/api/call.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "server/api/api.h"
#include "server/api/job_view.h"
#include "server/api/query.h"
#include "server/jobs/find.h"
#include "server/nodes.h"
#include "store/jobs.h"
#include "wire/value.h"

static bool refuse(const struct api_call *c, const struct err *err, const char *field)
{
    char shown[VALUE_SHOWN];
    reply_problem(c->reply, err, field ? value_show(field, shown) : NULL);
    return false;
}

void api_refuse(const struct api_call *c, const char *field, const char *text)
{
    struct err err;
    err_set(&err, ERR_INVALID, "%s: %s", field, text);
    refuse(c, &err, field);
}

/* ---- roles ----------------------------------------------------------------- */

enum role endpoint_role(const struct endpoint *e)
{
    if (e->role || e->open)
        return e->role;
    return !strcmp(e->method, "GET") ? ROLE_VIEWER : ROLE_USER;
}

static bool check_role(const struct endpoint *e, const struct api_call *c)
{
    enum role needed = endpoint_role(e);
    struct err err;
    if (c->role >= needed)
        return true;
    err_set(&err, ERR_DENIED, "this needs the role %s, and yours is %s", role_name(needed),
            role_name(c->role));
    return refuse(c, &err, NULL);
}

bool api_may_change(const struct api_call *c, const char *user, const char *what)
{
    char caller[ACCESS_USER];
    struct err err;
    if (c->role == ROLE_ADMIN)
        return true;
    access_user(c->request, caller, sizeof caller);
    if (!strcmp(caller, user))
        return true;
    err_set(&err, ERR_DENIED, "%s belongs to %.60s, and you are %s; only an admin may do this",
            what, user, caller);
    return refuse(c, &err, NULL);
}

static int take_owner(void *ctx, const struct job_row *row, struct err *err)
{
    struct str *owner = ctx;
    (void)err;
    str_add(owner, row->user);
    return 1;
}

bool api_owns_job(const struct api_call *c)
{
    const struct live_job *j = yard_live(c->yard, c->job);
    struct str owner = {0};
    char what[40];
    struct err err;
    if (c->role == ROLE_ADMIN)
        return true;
    if (j)
        str_add(&owner, j->row.user);
    else if (store_job_get(c->yard->store, c->job, take_owner, &owner, &err) < 0)
        return refuse(c, &err, NULL);
    snprintf(what, sizeof what, "job %lld", (long long)c->job);
    bool may = api_may_change(c, owner.at, what);
    str_done(&owner);
    return may;
}

/* ---- the query and the body ------------------------------------------------ */

static bool read_query(const struct endpoint *e, struct api_call *c)
{
    struct err err;
    const char *field;
    if (api_query_read(e, c->yard, &c->request->query, c->query, &field, &err) == 0)
        return true;
    return refuse(c, &err, field);
}

static bool read_body(const struct endpoint *e, struct api_call *c)
{
    struct err err;
    const char *field = NULL;
    if (!e->body || !strcmp(e->body, API_BYTES))
        return true;
    if (!c->request->body_n && e->body_optional) {
        c->body = json_object();
        return true;
    }
    if (request_json(c->request, &c->body, &err) < 0)
        return refuse(c, &err, NULL);
    if (!json_is_object(c->body)) {
        err_set(&err, ERR_INVALID, "the body must be a JSON object");
        return refuse(c, &err, NULL);
    }
    /* wire/ checks the members of a job request when it reads them. */
    const struct api_schema *schema = api_schema_find(e->body);
    if (schema && api_check_object(schema, c->body, &field, &err) < 0)
        return refuse(c, &err, field);
    return true;
}

/* ---- the path -------------------------------------------------------------- */

static bool read_path(struct api_call *c)
{
    const char *job = request_param(c->request, "id"), *node = request_param(c->request, "name");
    struct err err;
    if (job && find_job(c->yard, job, &c->job, &err) < 0)
        return refuse(c, &err, "id");
    if (node && nodes_find(c->yard, node, &c->node, &err) < 0)
        return refuse(c, &err, "name");
    return true;
}

bool api_call_read(const struct endpoint *e, struct api_call *c)
{
    c->role = e->open ? ROLE_NONE : access_role(c->request);
    return check_role(e, c) && read_query(e, c) && read_body(e, c) && read_path(c) &&
           (!c->job || endpoint_role(e) < ROLE_USER || api_owns_job(c));
}

/* ---- replies --------------------------------------------------------------- */

void api_reply_job(const struct api_call *c, int status)
{
    struct err err;
    json_t *job = NULL;
    if (job_view_show(c->yard, c->job, false, &job, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, status, job);
}

void api_reply_changed(const struct api_call *c, int rc, const struct err *err)
{
    if (rc < 0)
        reply_problem(c->reply, err, NULL);
    else
        api_reply_job(c, 200);
}
