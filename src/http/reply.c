/* Owns the making of replies: their bodies and content types. */
#include "http/reply.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "http/answer.h"
#include "http/internal.h"
#include "http/problem.h"

const struct request *reply_request(const struct reply *r)
{
    return &conn_of(r)->request;
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

void reply_bytes(struct reply *r, int status, const char *type, char *bytes, size_t n)
{
    answer_finish(r, status, type,
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
        reply_problem_as(r, 500, err_name(ERR_INTERNAL), "the answer is not valid JSON");
}

void reply_empty(struct reply *r, int status)
{
    answer_finish(r, status, NULL,
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
    reply_refuse(r, &(struct problem){err_http(err->code), err_name(err->code), err->text, field});
}

void reply_problem_as(struct reply *r, int status, const char *code, const char *detail)
{
    reply_refuse(r, &(struct problem){status, code, detail, NULL});
}
