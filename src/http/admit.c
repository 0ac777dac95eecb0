/* Owns what is refused before a handler runs: invalid addresses, heads and bodies that are too
 * large or ambiguous, unknown clients, and addresses and methods without a route.
 *
 * A refusal is kept until the whole request has arrived and its body was discarded. Otherwise
 * a client that is still writing would find the connection closed and never read the answer. */
#include "http/admit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/internal.h"
#include "http/reply.h"
#include "http/token.h"

/* The connection is closed when more of an unwanted body arrives. */
#define DISCARD_LIMIT (64u << 20)

/* Keeps the first refusal. */
__attribute__((format(printf, 4, 5))) static void refuse(struct conn *c, int status,
                                                         const char *code, const char *fmt, ...)
{
    va_list args;
    if (c->refusal.status)
        return;
    va_start(args, fmt);
    vsnprintf(c->refusal_text.text, sizeof c->refusal_text.text, fmt, args);
    va_end(args);
    c->refusal = (struct problem){status, code, c->refusal_text.text, NULL};
}

static void set(struct str *s, const char *text)
{
    s->n = 0;
    str_add(s, text);
}

static int read_target(struct conn *c, struct err *err)
{
    char *path, *query;
    if (url_split(c->target.at, &path, &query, err) < 0)
        return -1;
    set(&c->path, path);
    c->request.path = c->path.at;
    int n = url_segments(path, c->segment, ROUTE_SEGMENTS, err);
    if (n < 0)
        return -1;
    c->segments = (size_t)n;
    return query ? url_parse_query(query, &c->request.query, err) : 0;
}

void admit_target(struct conn *c, const char *target)
{
    struct err err;
    c->refusal.status = 0;
    c->refuse_now = false;
    c->discarded = 0;
    c->segments = 0;
    c->request.query.n = 0;
    c->request.path = "";
    set(&c->target, target);
    if (read_target(c, &err) < 0)
        refuse(c, 400, err_name(ERR_INVALID), "%s", err.text);
}

static void check_client(struct conn *c)
{
    c->request.caller = (struct caller){0};
    if (c->server->identify(c->server->ctx, &c->request, &c->request.caller)) {
        c->known = true;
        return;
    }
    if (!request_header(&c->request, "Authorization") && token_is_foreign(&c->request)) {
        refuse(c, 403, "forbidden",
               "a request with the login's cookie that changes something must come from a page of "
               "this server (header Origin); programs send 'Authorization: Bearer TOKEN'");
        return;
    }
    refuse(c, 401, "unauthorized",
           request_header(&c->request, "Authorization")
               ? "the token is wrong, expired or revoked"
               : "a token is required; send 'Authorization: Bearer TOKEN'");
    reply_header(&c->reply, "WWW-Authenticate", "Bearer");
}

static void find_route(struct conn *c)
{
    struct request *q = &c->request;
    struct route_match m = router_find(c->server->routes, q->method, c->segment, c->segments);
    q->route = m.route;
    memcpy(q->params, m.params, sizeof m.params);
    if (!c->listener->local && !(m.route && m.route->open))
        check_client(c);
    if (m.route || c->refusal.status)
        return;
    bool all = !strcmp(q->path, "*"), options = !strcmp(q->method, "OPTIONS");
    if (!m.other_method && !(all && options)) {
        refuse(c, 404, err_name(ERR_NOT_FOUND), "there is nothing at %.200s", q->path);
        return;
    }
    struct str methods = {0};
    router_add_methods(c->server->routes, c->segment, all ? 0 : c->segments, &methods);
    reply_header(&c->reply, "Allow", methods.at);
    if (options)
        refuse(c, 204, "", "%s", "");
    else
        refuse(c, 405, "method_not_allowed", "%.16s is not allowed here; use %s", q->method,
               methods.at);
    str_done(&methods);
}

struct framing {
    unsigned lengths, encodings;
    bool chunked, blank_in_name;
};

static enum MHD_Result count_framing(void *cls, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    struct framing *f = cls;
    (void)kind;
    f->blank_in_name |= name[strcspn(name, " \t")] != '\0';
    if (!strcasecmp(name, "Content-Length")) {
        f->lengths++;
    } else if (!strcasecmp(name, "Transfer-Encoding")) {
        f->encodings++;
        f->chunked = value && !strcasecmp(value, "chunked");
    }
    return MHD_YES;
}

/* A body whose length can be read in two ways is an attack on a proxy in front of us; one in
 * an encoding that MHD does not know would never end. */
static void check_framing(struct conn *c)
{
    struct framing f = {0};
    MHD_get_connection_values(c->mhd, MHD_HEADER_KIND, count_framing, &f);
    if (f.blank_in_name)
        refuse(c, 400, err_name(ERR_INVALID), "a header name must not contain blanks");
    else if (f.lengths + f.encodings > 1)
        refuse(c, 400, err_name(ERR_INVALID), "the length of the body is given twice");
    else if (f.encodings && !f.chunked)
        refuse(c, 501, "not_implemented",
               "the only Transfer-Encoding that is supported is 'chunked'");
    else
        return;
    /* The end of the body is unknown, so it cannot be skipped. */
    c->refuse_now = true;
}

static void check_size(struct conn *c)
{
    const struct http_limits *l = &c->server->limits;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info && info->header_size > l->header)
        refuse(c, 431, err_name(ERR_LIMIT),
               "the head of the request has %zu bytes; at most "
               "%zu are allowed",
               info->header_size, l->header);
    const char *length = request_header(&c->request, "Content-Length");
    if (length && strtoull(length, NULL, 10) > l->body)
        refuse(c, 413, err_name(ERR_LIMIT), "the body has %.20s bytes; at most %zu are allowed",
               length, l->body);
}

void admit_request(struct conn *c, const char *version)
{
    check_framing(c);
    /* MHD can check this as well, but 0.9.75 then sends the head of its reply twice. */
    if (strcmp(version, "HTTP/1.0") != 0 && !request_header(&c->request, "Host"))
        refuse(c, 400, err_name(ERR_INVALID), "HTTP/1.1 needs a Host header");
    check_size(c);
    find_route(c);
    /* A client that asks first need not send a body that will be refused. */
    c->refuse_now |= c->refusal.status && request_header(&c->request, "Expect");
}

bool admit_body(struct conn *c, const char *bytes, size_t n)
{
    size_t limit = c->server->limits.body;
    if (!c->refusal.status && c->body.n + n > limit) {
        refuse(c, 413, err_name(ERR_LIMIT),
               "the body has more than the %zu bytes that are "
               "allowed",
               limit);
        str_done(&c->body);
    }
    if (c->refusal.status) {
        c->discarded += n;
        return c->discarded <= DISCARD_LIMIT;
    }
    str_add_n(&c->body, bytes, n);
    return true;
}
