/* Owns the making of replies: bodies, content types, the headers that all of them
 * have, and the moment when a reply becomes MHD's. */
#include "http/reply.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/internal.h"

/* Pages load what they need from us alone, and are shown in no frame. */
#define PAGE_POLICY                                                                                \
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "            \
    "object-src 'none'"

struct conn *reply_conn(struct reply *r)
{
    return (struct conn *)((char *)r - offsetof(struct conn, reply));
}

const struct request *reply_request(const struct reply *r)
{
    return &((const struct conn *)((const char *)r - offsetof(struct conn, reply)))->request;
}

void reply_defer(struct reply *r, void (*gone)(void *ctx), void *ctx)
{
    assert(r->phase == PHASE_HANDLING);
    r->phase = PHASE_DEFERRED;
    r->gone = gone;
    r->gone_ctx = ctx;
}

void reply_header(struct reply *r, const char *name, const char *value)
{
    VEC_PUSH(&r->headers,
             (struct url_pair){xstrdup(name), xstrndup(value, strcspn(value, "\r\n"))});
}

static void drop_headers(struct reply *r)
{
    for (size_t i = 0; i < r->headers.n; i++) {
        free((char *)r->headers.at[i].name);
        free((char *)r->headers.at[i].value);
    }
    VEC_DONE(&r->headers);
}

void reply_reset(struct reply *r)
{
    drop_headers(r);
    if (r->response)
        MHD_destroy_response(r->response);
    *r = (struct reply){.phase = r->phase};
}

/* ---- headers --------------------------------------------------------------- */

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
    if (reply_conn(r)->server->stopping)
        MHD_add_response_header(response, "Connection", "close");
}

/* ---- the answer ------------------------------------------------------------ */

void reply_finish(struct reply *r, int status, const char *type, struct MHD_Response *response)
{
    struct conn *c = reply_conn(r);
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

void reply_bytes(struct reply *r, int status, const char *type, char *bytes, size_t n)
{
    reply_finish(r, status, type,
                 MHD_create_response_from_buffer_with_free_callback(n, bytes, free));
}

void reply_text(struct reply *r, int status, const char *type, const char *text)
{
    reply_bytes(r, status, type, xstrdup(text), strlen(text));
}

void reply_json(struct reply *r, int status, json_t *body)
{
    char *text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(16));
    json_decref(body);
    if (text)
        reply_bytes(r, status, "application/json", text, strlen(text));
    else
        reply_problem_as(r, 500, problem_code(ERR_INTERNAL), "the answer could not be written");
}

void reply_empty(struct reply *r, int status)
{
    reply_finish(r, status, NULL,
                 MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT));
}

void reply_refuse(struct reply *r, const struct problem *p)
{
    struct str text = {0};
    if (p->status == 204) {
        reply_empty(r, 204);
        return;
    }
    problem_add_json(p, MHD_get_reason_phrase_for((unsigned)p->status), &text);
    reply_bytes(r, p->status, PROBLEM_TYPE, text.at, text.n);
}

void reply_problem(struct reply *r, const struct err *err, const char *field)
{
    reply_refuse(r,
                 &(struct problem){err_http(err->code), problem_code(err->code), err->text, field});
}

void reply_problem_as(struct reply *r, int status, const char *code, const char *detail)
{
    reply_refuse(r, &(struct problem){status, code, detail, NULL});
}
