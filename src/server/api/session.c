/* Owns the endpoints by which a browser logs in and out. A browser cannot send a token with every
 * request; it sends a cookie, which scripts cannot read and other sites cannot use. */
#include <stdio.h>

#include "http/token.h"
#include "server/api/call.h"
#include "server/api/parts.h"

#define SESSION_LASTS (30 * 24 * 3600 * USEC_PER_SEC)
#define LINK_LASTS (2 * 60 * USEC_PER_SEC)

struct session_view {
    const char *user, *role;
    double expires;
};

static const struct api_member session_members[] = {
    API_STRING_OR_NULL(session_view, user, "User on whose behalf requests act"),
    API_STRING_OR_NULL(session_view, role, "Role: viewer, user or admin"),
    API_NUMBER_OR_NULL(session_view, expires, "When a login that began now ends; null otherwise"),
    {0},
};

static const struct api_schema session_schema = {"Session", .members = session_members};

static const struct api_member login_members[] = {
    API_MEMBER("code", "?string", "Code of a link that `trainyard open` made, instead of a token"),
    {0},
};

static const struct api_schema login_schema = {"Login", .members = login_members};

/* Who sent the request, as it can be kept. */
static struct caller caller_of(const struct api_call *c)
{
    struct caller caller = {.token = c->request->caller.token, .role = access_role(c->request)};
    access_user(c->request, caller.user, sizeof caller.user);
    return caller;
}

/* ---- logging in and out ---------------------------------------------------- */

static bool know_caller(const struct api_call *c, struct caller *caller)
{
    const char *code = json_string_value(json_object_get(c->body, "code"));
    if (code && access_follow_link(c->yard, code, caller))
        return true;
    if (!code && token_bearer(c->request) && access_identify(c->yard, c->request, caller))
        return true;
    reply_problem_as(c->reply, 401, "unauthorized",
                     code ? "the link has expired or was used; `trainyard open` makes another one"
                          : "the token is missing, wrong, expired or revoked");
    return false;
}

static void log_in(const struct api_call *c)
{
    char secret[ACCESS_SECRET];
    usec_t expires = clock_wall(&c->yard->clock) + SESSION_LASTS;
    struct caller caller;
    struct err err;
    if (c->request->peer->local) { /* the kernel says who it is */
        caller = caller_of(c);
    } else if (!know_caller(c, &caller)) {
        return;
    } else if (access_begin_session(c->yard, &caller, expires, secret, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        return;
    } else {
        token_set_cookie(c->request, c->reply, secret, SESSION_LASTS / USEC_PER_SEC);
    }
    struct session_view v = {caller.user, role_name(caller.role),
                             c->request->peer->local ? NAN : api_seconds(expires)};
    turn_reply(c->yard, c->reply, 200, api_print(&session_schema, &v));
}

static void log_out(const struct api_call *c)
{
    struct session_view v = {NULL, NULL, NAN};
    struct err err;
    /* A token that is used without a cookie stays. */
    if (!c->request->peer->local && !token_bearer(c->request) &&
        access_revoke(c->yard, c->request->caller.token, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        return;
    }
    token_set_cookie(c->request, c->reply, "", 0);
    turn_reply(c->yard, c->reply, 200, api_print(&session_schema, &v));
}

static void show_session(const struct api_call *c)
{
    struct caller caller = caller_of(c);
    struct session_view v = {caller.user, role_name(caller.role), NAN};
    reply_json(c->reply, 200, api_print(&session_schema, &v));
}

/* ---- links ----------------------------------------------------------------- */

struct link_view {
    const char *url, *path;
    double expires;
};

static const struct api_member link_members[] = {
    API_STRING_OR_NULL(link_view, url, "The link, at the server's own address"),
    API_STRING(link_view, path, "Its end, for those who reach the server at another address"),
    API_NUMBER_OR_NULL(link_view, expires, "Until when it can be followed, once"),
    {0},
};

static const struct api_schema link_schema = {"LoginLink", .members = link_members};

static void make_link(const struct api_call *c)
{
    char code[ACCESS_SECRET];
    struct caller caller = caller_of(c);
    usec_t expires = clock_wall(&c->yard->clock) + LINK_LASTS;
    struct str path = {0}, url = {0};
    struct err err;
    if (!c->yard->access.url) {
        err_set(&err, ERR_CONFLICT,
                "browsers cannot reach this server, as it does not listen on TCP; start it with "
                "--listen 127.0.0.1:8080");
        reply_problem(c->reply, &err, NULL);
        return;
    }
    if (access_make_link(c->yard, &caller, expires, code, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        return;
    }
    /* Browsers do not send what follows the #, so no log has it. */
    str_addf(&path, "/#login=%s", code);
    str_addf(&url, "%s%s", c->yard->access.url, path.at);
    struct link_view v = {url.at, path.at, api_seconds(expires)};
    reply_json(c->reply, 201, api_print(&link_schema, &v));
    str_done(&path);
    str_done(&url);
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct api_schema *const schemas[] = {&session_schema, &login_schema, &link_schema,
                                                   NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "login",
        .method = "POST",
        .path = API_V1 "/login",
        .handle = log_in,
        .summary = "Log in from a browser",
        .description = "Send a token as for any request, or the code of a link. The reply sets a "
                       "cookie that is used instead of it for 30 days. Requests with the cookie "
                       "that change something must come from a page of this server.",
        .body = "Login",
        .body_optional = true,
        .replies = {{200, "Session", "Logged in"}},
        .header = "Set-Cookie",
        .header_help = "The cookie",
        .errors = {401},
        .open = true,
    },
    {
        .name = "logout",
        .method = "POST",
        .path = API_V1 "/logout",
        .handle = log_out,
        .summary = "Log out",
        .description = "Ends the session and removes the cookie.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "Session", "Logged out"}},
        .header = "Set-Cookie",
        .header_help = "The removal of the cookie",
        .role = ROLE_VIEWER,
    },
    {
        .name = "session",
        .method = "GET",
        .path = API_V1 "/session",
        .handle = show_session,
        .summary = "Show who you are to the server",
        .description = "On the unix socket it is the connected user, over TCP that of the token.",
        .replies = {{200, "Session", "User and role"}},
    },
    {
        .name = "link_make",
        .method = "POST",
        .path = API_V1 "/links",
        .handle = make_link,
        .summary = "Make a link that logs a browser in",
        .description = "It works once and for two minutes, with the user and the role of whoever "
                       "asks for it.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{201, "LoginLink", "The link"}},
        .role = ROLE_VIEWER,
        .errors = {409},
    },
    {0},
};

const struct api_part api_part_session = {"Access", endpoints, schemas};
