/* Owns the endpoints by which a browser logs in and out. A browser cannot send a token with every
 * request; it sends a cookie, which scripts cannot read and other sites cannot use. */
#include "http/token.h"
#include "server/api/call.h"
#include "server/api/parts.h"

#define LASTS (30 * 24 * 3600 * USEC_PER_SEC)

struct session_view {
    double expires;
};

static const struct api_member session_members[] = {
    API_NUMBER_OR_NULL(session_view, expires,
                       "When the login ends; null if none is needed, or after a logout"),
    {0},
};

static const struct api_schema session_schema = {"Session", .members = session_members};

static void log_in(const struct api_call *c)
{
    const char *token = token_bearer(c->request);
    struct session_view v = {NAN};
    if (!c->request->peer->local && token) {
        token_set_cookie(c->reply, token, LASTS / USEC_PER_SEC);
        v.expires = api_seconds(clock_wall(&c->yard->clock) + LASTS);
    }
    reply_json(c->reply, 200, api_print(&session_schema, &v));
}

static void log_out(const struct api_call *c)
{
    struct session_view v = {NAN};
    token_set_cookie(c->reply, "", 0);
    reply_json(c->reply, 200, api_print(&session_schema, &v));
}

static const struct api_schema *const schemas[] = {&session_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "login",
        .method = "POST",
        .path = API_V1 "/login",
        .handle = log_in,
        .summary = "Log in from a browser",
        .description = "Send the token as for any request. The reply sets a cookie that is used "
                       "instead of it for 30 days. Requests with the cookie that change "
                       "something must come from a page of this server.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "Session", "Logged in"}},
        .header = "Set-Cookie",
        .header_help = "The cookie",
    },
    {
        .name = "logout",
        .method = "POST",
        .path = API_V1 "/logout",
        .handle = log_out,
        .summary = "Log out",
        .description = "Removes the cookie.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "Session", "Logged out"}},
        .header = "Set-Cookie",
        .header_help = "The removal of the cookie",
    },
    {0},
};

const struct api_part api_part_session = {"Server", endpoints, schemas};
