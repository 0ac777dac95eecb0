/* Owns requests that are under way: their bodies, replies and time limits. */
#include "runtime/remote/call.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* The largest reply that is kept. */
#define REPLY_LIMIT (64u << 20)

struct call {
    struct calls *all;
    struct call *prev, *next;
    CURL *easy;
    struct curl_slist *headers;
    struct str body, reply;
    struct call_request request;
    int64_t sent; /* of the file */
    bool too_large;
    char detail[CURL_ERROR_SIZE];
};

static void free_call(struct call *c)
{
    *(c->prev ? &c->prev->next : &c->all->first) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    curl_loop_remove(c->all->curl, c->easy);
    curl_easy_cleanup(c->easy);
    curl_slist_free_all(c->headers);
    str_done(&c->body);
    str_done(&c->reply);
    if (c->request.file)
        close(c->request.file);
    free(c);
}

void call_cancel(struct call *c)
{
    if (c)
        free_call(c);
}

void calls_done(struct calls *all)
{
    for (struct call *c = all->first, *next; c; c = next) {
        next = c->next;
        free_call(c);
    }
}

static size_t take_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct call *c = ctx;
    long status = 0;
    n *= size;
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    if (c->request.bytes && status == 200) {
        if (c->request.full && c->request.full(c->request.ctx))
            return CURL_WRITEFUNC_PAUSE;
        c->request.bytes(c->request.ctx, bytes, n);
        return n;
    }
    c->too_large = c->reply.n + n > REPLY_LIMIT;
    if (c->too_large)
        return 0;
    str_add_n(&c->reply, bytes, n);
    return n;
}

static size_t give_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    const struct call *c = ctx;
    size_t given = c->request.source(c->request.ctx, bytes, size * n);
    return given == CALL_LATER ? CURL_READFUNC_PAUSE : given;
}

void call_resume(struct call *c)
{
    curl_easy_pause(c->easy, CURLPAUSE_CONT);
}

static void on_done(void *ctx, CURLcode code)
{
    struct call *c = ctx;
    struct call_request request = c->request; /* its file goes with the call */
    struct call_reply r = {.body = c->reply.n ? c->reply.at : "", .n = c->reply.n};
    curl_off_t wait = 0;
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &r.status);
    curl_easy_getinfo(c->easy, CURLINFO_RETRY_AFTER, &wait);
    r.retry_after = (usec_t)wait * USEC_PER_SEC;
    if (c->too_large)
        err_set(&r.err, ERR_LIMIT, "the reply is too large");
    else if (code != CURLE_OK)
        c->all->explain(c->all->ctx, c->easy, code, c->detail, &r.err);
    struct str reply = c->reply;
    c->reply = (struct str){0};
    free_call(c);
    request.done(request.ctx, &r);
    str_done(&reply);
}

static void set_body(struct call *c, const struct call_request *q)
{
    struct str type = {0};
    str_addf(&type, "Content-Type: %s", q->type ? q->type : "application/json");
    c->headers = curl_slist_append(c->headers, type.at);
    c->headers = curl_slist_append(c->headers, "Expect:");
    str_done(&type);
    str_add_n(&c->body, q->body, q->n ? q->n : strlen(q->body));
    curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, c->body.at);
    curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->body.n);
}

static size_t give_file(char *out, size_t size, size_t n, void *ctx)
{
    struct call *c = ctx;
    ssize_t got = pread(c->request.file, out, size * n, c->sent);
    if (got < 0)
        return CURL_READFUNC_ABORT;
    c->sent += got;
    if (c->request.sent)
        c->request.sent(c->request.ctx, c->sent);
    return (size_t)got;
}

static void set_upload(struct call *c, const struct call_request *q,
                       size_t (*give)(char *, size_t, size_t, void *))
{
    struct str type = {0};
    str_addf(&type, "Content-Type: %s", q->type);
    c->headers = curl_slist_append(c->headers, type.at);
    c->headers = curl_slist_append(c->headers, "Expect:");
    str_done(&type);
    curl_easy_setopt(c->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(c->easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(c->easy, CURLOPT_READDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
}

struct call *call_begin(struct calls *all, CURL *easy, const struct call_request *q)
{
    struct call *c = xcalloc(1, sizeof *c);
    c->all = all;
    c->next = all->first;
    if (all->first)
        all->first->prev = c;
    all->first = c;
    c->request = *q;
    c->easy = easy;
    if (q->file) {
        set_upload(c, q, give_file);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->file_bytes);
    } else if (q->source) {
        set_upload(c, q, give_bytes);
        c->headers = curl_slist_append(c->headers, "Transfer-Encoding: chunked");
    } else if (q->body)
        set_body(c, q);
    else if (!strcmp(q->method, "HEAD"))
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (!strcmp(q->method, "POST"))
        set_body(c, &(struct call_request){.body = ""});
    for (size_t i = 0; q->headers && q->headers[i]; i++)
        c->headers = curl_slist_append(c->headers, q->headers[i]);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, q->method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, c->detail);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, c);
    if (q->full) /* much is to come */
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 512L << 10);
    if (q->limit != USEC_NEVER)
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(q->limit > 1000 ? q->limit / 1000 : 1));
    c->request.method = c->request.body = NULL;
    c->request.headers = NULL;
    curl_loop_add(all->curl, easy, on_done, c);
    return c;
}
