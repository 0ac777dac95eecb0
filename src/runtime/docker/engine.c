/* Owns calls to an engine: how it is reached, the version of its API, what went wrong. */
#include "runtime/docker/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/docker/ssh.h"

#define CONNECT_LIMIT_MS 10000L
/* The largest reply that is kept. */
#define REPLY_LIMIT (16u << 20)

struct engine {
    struct curl_loop *curl;
    struct uv_loop_s *loop;
    struct endpoint at;
    struct arena arena; /* of `at` */
    struct ssh *ssh;    /* NULL = it is reached by a socket */
    char version[16];   /* "/v1.41"; "" = not agreed yet */
    const char *socket; /* to connect to; NULL = by TCP */
    struct engine_call *first;
};

struct engine_call {
    struct engine *engine;
    struct engine_call *prev, *next;
    CURL *easy;
    struct curl_slist *headers;
    struct str body, reply;
    struct engine_request request;
    bool too_large;
    char detail[CURL_ERROR_SIZE];
};

/* ---- reaching it ------------------------------------------------------------------- */

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

int engine_create(struct curl_loop *curl, struct uv_loop_s *loop, const struct endpoint *at,
                  const char *socket, struct engine **out, struct err *err)
{
    struct engine *e = xcalloc(1, sizeof *e);
    e->curl = curl;
    e->loop = loop;
    e->at = (struct endpoint){at->kind, copy(&e->arena, at->path), copy(&e->arena, at->host),
                              copy(&e->arena, at->port), copy(&e->arena, at->tls)};
    e->socket = at->kind == ENDPOINT_SSH ? copy(&e->arena, socket) : e->at.path;
    if (at->kind == ENDPOINT_SSH && ssh_open(loop, &e->at, socket, &e->ssh, err) < 0) {
        engine_free(e);
        return -1;
    }
    *out = e;
    return 0;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    for (struct engine_call *c = e->first, *next; c; c = next) {
        next = c->next;
        engine_cancel(c);
    }
    ssh_free(e->ssh);
    arena_done(&e->arena);
    free(e);
}

int engine_agree(struct engine *e, const struct answer_version *theirs, struct err *err)
{
    api_version_t use = theirs->newest < ENGINE_API_NEWEST ? theirs->newest : ENGINE_API_NEWEST;
    if (use < ENGINE_API_OLDEST || use < theirs->oldest)
        return err_set(err, ERR_CONFLICT,
                       "the engine speaks versions %u.%u to %u.%u of its API, Trainyard %u.%u to "
                       "%u.%u",
                       theirs->oldest / 1000, theirs->oldest % 1000, theirs->newest / 1000,
                       theirs->newest % 1000, ENGINE_API_OLDEST / 1000, ENGINE_API_OLDEST % 1000,
                       ENGINE_API_NEWEST / 1000, ENGINE_API_NEWEST % 1000);
    snprintf(e->version, sizeof e->version, "/v%u.%u", use / 1000 % 1000, use % 1000);
    return 0;
}

struct curl_loop *engine_curl(const struct engine *e)
{
    return e->curl;
}

struct uv_loop_s *engine_loop(const struct engine *e)
{
    return e->loop;
}

static void set_file(CURL *easy, CURLoption option, const char *dir, const char *name)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, name);
    curl_easy_setopt(easy, option, path.at);
    str_done(&path);
}

static void set_tls(CURL *easy, const char *dir)
{
    set_file(easy, CURLOPT_CAINFO, dir, "ca.pem");
    set_file(easy, CURLOPT_SSLCERT, dir, "cert.pem");
    set_file(easy, CURLOPT_SSLKEY, dir, "key.pem");
}

CURL *engine_handle(struct engine *e, const char *path, bool no_version, struct str *url)
{
    CURL *easy = curl_easy_init();
    const char *host = e->at.kind == ENDPOINT_TCP ? e->at.host : "docker";
    if (!easy)
        abort(); /* no memory */
    str_addf(url, "http%s://%s%s%s", e->at.tls ? "s" : "", host, no_version ? "" : e->version,
             path);
    curl_easy_setopt(easy, CURLOPT_URL, url->at);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_LIMIT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    if (e->socket)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, e->socket);
    if (e->at.tls)
        set_tls(easy, e->at.tls);
    return easy;
}

int engine_explain(const struct engine *e, CURL *easy, CURLcode code, const char *detail,
                   struct err *err)
{
    const char *why = detail && *detail ? detail : curl_easy_strerror(code);
    long number = 0;
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_COULDNT_CONNECT && e->at.kind == ENDPOINT_UNIX)
        return err_set(err, ERR_UNREACHABLE, "the engine cannot be reached at %.100s: %s",
                       e->at.path, strerror((int)number));
    if (code == CURLE_OPERATION_TIMEDOUT)
        return err_set(err, ERR_UNREACHABLE, "the engine does not answer: %s", why);
    if (e->ssh && *ssh_complaint(e->ssh))
        return err_set(err, ERR_UNREACHABLE, "the engine cannot be reached through ssh: %s",
                       ssh_complaint(e->ssh));
    return err_set(err, ERR_UNREACHABLE, "the engine cannot be reached: %s", why);
}

/* ---- calls ---------------------------------------------------------------------------- */

static void free_call(struct engine_call *c)
{
    *(c->prev ? &c->prev->next : &c->engine->first) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    curl_loop_remove(c->engine->curl, c->easy);
    curl_easy_cleanup(c->easy);
    curl_slist_free_all(c->headers);
    str_done(&c->body);
    str_done(&c->reply);
    free(c);
}

void engine_cancel(struct engine_call *c)
{
    if (c)
        free_call(c);
}

static size_t take_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct engine_call *c = ctx;
    long status = 0;
    n *= size;
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    if (c->request.bytes && status == 200) {
        c->request.bytes(c->request.ctx, bytes, n);
        return n;
    }
    c->too_large = c->reply.n + n > REPLY_LIMIT;
    if (c->too_large)
        return 0;
    str_add_n(&c->reply, bytes, n);
    return n;
}

static void on_done(void *ctx, CURLcode code)
{
    struct engine_call *c = ctx;
    struct engine_request request = c->request;
    struct engine_reply r = {.body = c->reply.n ? c->reply.at : "", .n = c->reply.n};
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &r.status);
    if (c->too_large)
        err_set(&r.err, ERR_LIMIT, "the engine's reply is too large");
    else if (code != CURLE_OK)
        engine_explain(c->engine, c->easy, code, c->detail, &r.err);
    struct str reply = c->reply;
    c->reply = (struct str){0};
    free_call(c);
    request.done(request.ctx, &r);
    str_done(&reply);
}

static void set_body(struct engine_call *c, const struct engine_request *q)
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

struct engine_call *engine_ask(struct engine *e, const struct engine_request *q)
{
    struct engine_call *c = xcalloc(1, sizeof *c);
    struct str url = {0};
    c->engine = e;
    c->next = e->first;
    if (e->first)
        e->first->prev = c;
    e->first = c;
    c->request = *q;
    c->easy = engine_handle(e, q->path, q->no_version, &url);
    str_done(&url);
    if (q->body)
        set_body(c, q);
    else if (!strcmp(q->method, "HEAD"))
        curl_easy_setopt(c->easy, CURLOPT_NOBODY, 1L);
    else if (!strcmp(q->method, "POST"))
        set_body(c, &(struct engine_request){.body = ""});
    if (q->header)
        c->headers = curl_slist_append(c->headers, q->header);
    curl_easy_setopt(c->easy, CURLOPT_CUSTOMREQUEST, q->method);
    curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->detail);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
    if (q->limit != USEC_NEVER)
        curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS,
                         (long)(q->limit > 1000 ? q->limit / 1000 : 1));
    c->request.method = c->request.path = c->request.body = c->request.header = NULL;
    curl_loop_add(e->curl, c->easy, on_done, c);
    return c;
}

int engine_check(const struct engine_reply *r, struct err *err)
{
    char text[200];
    if (r->err.code != ERR_OK) {
        *err = r->err;
        return -1;
    }
    if ((r->status >= 200 && r->status < 300) || r->status == 304)
        return 0;
    answer_read_error(r->body, r->n, text, sizeof text);
    return err_set(err,
                   r->status == 404   ? ERR_NOT_FOUND
                   : r->status == 409 ? ERR_CONFLICT
                                      : ERR_IO,
                   "%s", *text ? text : "the engine refuses without a reason");
}
