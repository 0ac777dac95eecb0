/* Owns the hand-over of a reply to MHD, and the headers that all replies have. */
#include "http/answer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/conn.h"
#include "http/internal.h"
#include "http/watch.h"

/* Pages may load resources only from this server and may not be framed. */
#define PAGE_POLICY                                                                                \
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "            \
    "object-src 'none'"

static void drop_headers(struct reply *r)
{
    for (size_t i = 0; i < r->headers.n; i++) {
        free((char *)r->headers.at[i].name);
        free((char *)r->headers.at[i].value);
    }
    VEC_DONE(&r->headers);
}

void answer_reset(struct reply *r)
{
    drop_headers(r);
    if (r->response)
        MHD_destroy_response(r->response);
    *r = (struct reply){.phase = r->phase};
}

static void add_unless_set(const struct reply *r, struct MHD_Response *response, const char *name,
                           const char *value)
{
    for (size_t i = 0; i < r->headers.n; i++)
        if (!strcasecmp(r->headers.at[i].name, name))
            return;
    MHD_add_response_header(response, name, value);
}

static bool is_type(const char *type, const char *prefix)
{
    return !strncasecmp(type, prefix, strlen(prefix));
}

static void add_type(const struct reply *r, struct MHD_Response *response, const char *type)
{
    char with_charset[128];
    if (is_type(type, "text/") && !is_type(type, "text/event-stream") && !strchr(type, ';')) {
        snprintf(with_charset, sizeof with_charset, "%s; charset=utf-8", type);
        type = with_charset;
    }
    add_unless_set(r, response, "Content-Type", type);
    add_unless_set(r, response, "X-Content-Type-Options", "nosniff");
    if (is_type(type, "text/html")) {
        add_unless_set(r, response, "Content-Security-Policy", PAGE_POLICY);
        add_unless_set(r, response, "X-Frame-Options", "DENY");
        add_unless_set(r, response, "Referrer-Policy", "no-referrer");
    }
}

static void add_headers(struct reply *r, struct MHD_Response *response, const char *type)
{
    if (type)
        add_type(r, response, type);
    add_unless_set(r, response, "Cache-Control", "no-store");
    for (size_t i = 0; i < r->headers.n; i++)
        MHD_add_response_header(response, r->headers.at[i].name, r->headers.at[i].value);
    if (conn_of(r)->server->stopping)
        MHD_add_response_header(response, "Connection", "close");
}

void answer_finish(struct reply *r, int status, const char *type, struct MHD_Response *response)
{
    struct conn *c = conn_of(r);
    assert(r->phase == PHASE_HANDLING || r->phase == PHASE_DEFERRED);
    bool deferred = r->phase == PHASE_DEFERRED;
    r->phase = PHASE_ANSWERED;
    if (!c->mhd) {
        MHD_destroy_response(response);
        conn_free(c);
        return;
    }
    add_headers(r, response, type);
    r->status = (unsigned)status;
    r->response = response;
    r->gone = NULL;
    if (!deferred)
        return;
    if (!r->stream)
        watch_remove(c);
    conn_resume(c);
}
