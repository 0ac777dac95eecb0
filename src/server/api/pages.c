/* Owns the addresses of the dashboard: its page at /, and the files that the page names. They
 * hold no data of jobs, so they need no token; the page asks for one. */
#include "server/api/pages.h"

#include <stdio.h>
#include <string.h>

#include "http/reply.h"
#include "http/request.h"
#include "web/assets.h"

/* Scripts and styles come from files of this server only: nothing that a job prints can run. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static void reply_file(struct reply *r, const char *name)
{
    for (const struct http_asset *a = web_assets; a->name; a++)
        if (!strcmp(a->name, name)) {
            reply_asset(r, a);
            return;
        }
    struct err err;
    err_set(&err, ERR_NOT_FOUND, "there is no file '%.100s'", name);
    reply_problem(r, &err, NULL);
}

static void serve_page(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_header(r, "Content-Security-Policy", page_policy);
    reply_file(r, "index.html");
}

static void serve_file(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    reply_file(r, request_param(q, "file"));
}

const struct route page_routes[] = {
    {"GET", "/", serve_page, "page", true},
    {"GET", "/assets/{file}", serve_file, "asset", true},
    {0},
};
