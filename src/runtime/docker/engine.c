/* Owns calls to an engine: how it is reached, the version of its API, what went wrong. */
#include "runtime/docker/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/docker/ssh.h"

#define CONNECT_LIMIT_MS 10000L
/* A connection that is dead is noticed within a few minutes, long before a lease ends. */
#define KEEPALIVE_S 15L

struct engine {
    struct calls calls;
    struct endpoint at;
    struct arena arena; /* of `at` */
    struct ssh *ssh;    /* NULL = it is reached by a socket */
    char version[16];   /* "/v1.41"; "" = not agreed yet */
    bool podman;
};

/* ---- reaching it ------------------------------------------------------------------- */

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

static int explain_call(void *ctx, CURL *easy, CURLcode code, const char *detail, struct err *err)
{
    return engine_explain(ctx, easy, code, detail, err);
}

int engine_create(struct curl_loop *curl, struct uv_loop_s *loop, const struct endpoint *at,
                  const char *socket, struct engine **out, struct err *err)
{
    struct engine *e = xcalloc(1, sizeof *e);
    e->calls = (struct calls){.curl = curl, .explain = explain_call, .ctx = e};
    e->at = (struct endpoint){at->kind, copy(&e->arena, at->path), copy(&e->arena, at->host),
                              copy(&e->arena, at->port), copy(&e->arena, at->tls)};
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
    calls_done(&e->calls);
    ssh_free(e->ssh);
    arena_done(&e->arena);
    free(e);
}

bool engine_prepare(struct engine *e, void (*done)(void *ctx, const struct err *err), void *ctx)
{
    if (e->ssh)
        ssh_prepare(e->ssh, done, ctx);
    return e->ssh != NULL;
}

const char *engine_notice(const struct engine *e)
{
    return e->ssh ? ssh_notice(e->ssh) : "";
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
    e->podman = theirs->podman;
    return 0;
}

bool engine_is_podman(const struct engine *e)
{
    return e->podman;
}

struct curl_loop *engine_curl(const struct engine *e)
{
    return e->calls.curl;
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
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S);
    if (e->ssh || e->at.path)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, e->ssh ? ssh_socket(e->ssh) : e->at.path);
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

struct call *engine_ask(struct engine *e, const struct engine_request *q)
{
    struct str url = {0};
    CURL *easy = engine_handle(e, q->path, q->no_version, &url);
    const char *headers[] = {q->header, NULL};
    struct call_request request = {.method = q->method,
                                   .type = q->type,
                                   .body = q->body,
                                   .n = q->n,
                                   .file = q->file,
                                   .file_bytes = q->file_bytes,
                                   .sent = q->sent,
                                   .headers = headers,
                                   .limit = q->limit,
                                   .done = q->done,
                                   .bytes = q->bytes,
                                   .full = q->full,
                                   .source = q->source,
                                   .ctx = q->ctx};
    str_done(&url);
    return call_begin(&e->calls, easy, &request);
}

int engine_check(const struct call_reply *r, struct err *err)
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
                   "%s", *text ? text : "the engine refused the request and gave no reason");
}
