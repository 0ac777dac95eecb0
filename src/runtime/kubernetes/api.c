/* Owns calls to the API server: how it is reached, how many at once, and patience with one that is
 * overloaded. */
#include "runtime/kubernetes/api.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "runtime/kubernetes/credentials.h"
#include "runtime/runtime.h"

#define CONNECT_LIMIT_MS 10000L
#define PAUSE_FIRST (USEC_PER_SEC / 4)
#define PAUSE_LONGEST (10 * USEC_PER_SEC)
#define RETRY_AFTER_MOST (60 * USEC_PER_SEC)
enum { IN_FLIGHT_MOST = 16, UNAUTHORIZED = 401, TOO_MANY = 429 };

struct kube_api {
    struct calls calls;
    struct runtime_host *host;
    const struct kube_config *config;
    struct credentials *credentials;
    struct kube_call *first, **end; /* in the order in which they were asked for */
    unsigned in_flight;
    bool pumping;
};

struct kube_call {
    struct kube_api *api;
    struct kube_call *next, **at; /* `at` points to us */
    struct kube_request request;
    char *path, *body;
    struct call *call; /* NULL = it waits */
    usec_t not_before, deadline, pause;
    bool refused; /* once, for its credentials */
};

static usec_t now_of(const struct kube_api *api)
{
    return api->host->now(api->host);
}

/* ---- reaching it ------------------------------------------------------------------- */

static void set_blob(CURL *easy, CURLoption option, const char *pem)
{
    struct curl_blob blob = {(void *)pem, pem ? strlen(pem) : 0, CURL_BLOB_COPY};
    if (pem)
        curl_easy_setopt(easy, option, &blob);
}

static void set_tls(const struct kube_api *api, CURL *easy)
{
    const char *cert = credentials_cert(api->credentials), *key = credentials_key(api->credentials);
    set_blob(easy, CURLOPT_CAINFO_BLOB, api->config->ca);
    if (cert && key) {
        set_blob(easy, CURLOPT_SSLCERT_BLOB, cert);
        set_blob(easy, CURLOPT_SSLKEY_BLOB, key);
    }
    if (api->config->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

CURL *kube_handle(struct kube_api *api, const char *path, struct str *url, struct str *header)
{
    CURL *easy = curl_easy_init();
    const char *token = credentials_token(api->credentials);
    if (!easy)
        abort(); /* no memory */
    str_addf(url, "%s%s", api->config->server, path);
    curl_easy_setopt(easy, CURLOPT_URL, url->at);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_LIMIT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "trainyard/" TRAINYARD_VERSION);
    set_tls(api, easy);
    if (token)
        str_addf(header, "Authorization: Bearer %s", token);
    else if (api->config->user) {
        curl_easy_setopt(easy, CURLOPT_USERNAME, api->config->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, api->config->password);
    }
    return easy;
}

struct curl_loop *kube_curl(const struct kube_api *api)
{
    return api->calls.curl;
}

bool kube_api_ready(struct kube_api *api)
{
    return credentials_ready(api->credentials);
}

int kube_explain(void *ctx, CURL *easy, CURLcode code, const char *detail, struct err *err)
{
    const struct kube_api *api = ctx;
    const char *why = detail && *detail ? detail : curl_easy_strerror(code);
    (void)easy;
    if (code == CURLE_OPERATION_TIMEDOUT)
        return err_set(err, ERR_UNREACHABLE, "the API server %.80s does not answer: %s",
                       api->config->server, why);
    return err_set(err, ERR_UNREACHABLE, "the API server %.80s cannot be reached: %s",
                   api->config->server, why);
}

/* ---- calls ---------------------------------------------------------------------------- */

static void free_call(struct kube_call *c)
{
    struct kube_api *api = c->api;
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    else
        api->end = c->at;
    if (c->call && !c->request.stream)
        api->in_flight--;
    call_cancel(c->call);
    free(c->path);
    free(c->body);
    free(c);
}

void kube_cancel(struct kube_call *c)
{
    if (c)
        free_call(c);
}

static void finish(struct kube_call *c, const struct call_reply *r)
{
    struct kube_request request = c->request;
    free_call(c);
    request.done(request.ctx, r);
}

static void give_up(struct kube_call *c)
{
    struct call_reply r = {0};
    const char *trouble = credentials_trouble(c->api->credentials);
    err_set(&r.err, ERR_UNREACHABLE, "%s",
            *trouble ? trouble : "the API server does not answer in time");
    finish(c, &r);
}

static bool asks_for_patience(const struct call_reply *r)
{
    return r->err.code == ERR_OK && (r->status == TOO_MANY || r->status >= 500);
}

/* Whether to repeat it, and when. */
static bool plan_again(struct kube_call *c, const struct call_reply *r)
{
    usec_t wait = r->retry_after < RETRY_AFTER_MOST ? r->retry_after : RETRY_AFTER_MOST;
    bool refused = r->err.code == ERR_OK && r->status == UNAUTHORIZED && !c->refused;
    if (refused) {
        c->refused = true;
        credentials_refused(c->api->credentials);
    } else if (!asks_for_patience(r)) {
        return false;
    } else {
        wait = wait > c->pause ? wait : c->pause;
        c->pause = c->pause * 2 < PAUSE_LONGEST ? c->pause * 2 : PAUSE_LONGEST;
    }
    c->not_before = now_of(c->api) + wait;
    return !c->request.stream && c->not_before < c->deadline;
}

static void pump(struct kube_api *api);

static void on_reply(void *ctx, const struct call_reply *r)
{
    struct kube_call *c = ctx;
    struct kube_api *api = c->api;
    c->call = NULL;
    if (!c->request.stream)
        api->in_flight--;
    if (!plan_again(c, r))
        finish(c, r);
    pump(api);
}

static void on_bytes(void *ctx, const char *bytes, size_t n)
{
    const struct kube_call *c = ctx;
    c->request.bytes(c->request.ctx, bytes, n);
}

static void send_call(struct kube_call *c, usec_t now)
{
    struct kube_api *api = c->api;
    struct str url = {0}, header = {0};
    CURL *easy = kube_handle(api, c->path, &url, &header);
    const char *headers[] = {"Accept: application/json", header.n ? header.at : NULL, NULL};
    struct call_request q = {.method = c->request.method,
                             .type = c->request.type,
                             .body = c->body,
                             .headers = headers,
                             .limit = c->deadline - now,
                             .done = on_reply,
                             .bytes = c->request.bytes ? on_bytes : NULL,
                             .ctx = c};
    if (!c->request.stream)
        api->in_flight++;
    c->call = call_begin(&api->calls, easy, &q);
    str_done(&url);
    str_done(&header);
}

static bool may_send(const struct kube_call *c, usec_t now)
{
    return !c->call && c->not_before <= now &&
           (c->request.stream || c->api->in_flight < IN_FLIGHT_MOST);
}

/* Sends what may be sent now. */
static void pump(struct kube_api *api)
{
    usec_t now = now_of(api);
    if (api->pumping || !api->first || !credentials_ready(api->credentials))
        return;
    api->pumping = true;
    for (struct kube_call *c = api->first; c; c = c->next)
        if (may_send(c, now))
            send_call(c, now);
    api->pumping = false;
}

struct kube_call *kube_ask(struct kube_api *api, const struct kube_request *q)
{
    struct kube_call *c = xcalloc(1, sizeof *c);
    *c = (struct kube_call){.api = api,
                            .at = api->end,
                            .request = *q,
                            .path = xstrdup(q->path),
                            .body = q->body ? xstrdup(q->body) : NULL,
                            .deadline = now_of(api) + q->limit,
                            .pause = PAUSE_FIRST};
    *api->end = c;
    api->end = &c->next;
    c->request.path = c->request.body = NULL;
    pump(api);
    return c;
}

usec_t kube_api_due(const struct kube_api *api)
{
    usec_t first = USEC_NEVER;
    for (const struct kube_call *c = api->first; c; c = c->next) {
        if (c->call)
            continue;
        bool full = !c->request.stream && api->in_flight >= IN_FLIGHT_MOST;
        usec_t t = full || *credentials_trouble(api->credentials) ? c->deadline : c->not_before;
        t = t < c->deadline ? t : c->deadline;
        first = t < first ? t : first;
    }
    if (first != USEC_NEVER && *credentials_trouble(api->credentials)) {
        usec_t soon = now_of(api) + USEC_PER_SEC; /* to try to get credentials again */
        first = soon < first ? soon : first;
    }
    return first;
}

/* A call that waits, and whose time is up; NULL = none. */
static struct kube_call *find_late(const struct kube_api *api, usec_t now)
{
    struct kube_call *c = api->first;
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a call that is freed is not in the list */
    while (c && (c->call || c->deadline > now))
        c = c->next;
    return c;
}

void kube_api_turn(struct kube_api *api, usec_t now)
{
    for (struct kube_call *c; (c = find_late(api, now));)
        give_up(c); /* the list may be another afterwards */
    pump(api);
}

/* ---- life ----------------------------------------------------------------------------- */

static void credentials_changed(void *ctx)
{
    pump(ctx);
}

struct kube_api *kube_api_create(struct curl_loop *curl, struct runtime_host *host,
                                 const struct kube_config *config)
{
    struct kube_api *api = xcalloc(1, sizeof *api);
    api->calls = (struct calls){.curl = curl, .explain = kube_explain, .ctx = api};
    api->host = host;
    api->config = config;
    api->end = &api->first;
    api->credentials = credentials_create(host, config, credentials_changed, api);
    return api;
}

void kube_api_free(struct kube_api *api)
{
    if (!api)
        return;
    for (struct kube_call *c = api->first, *next; c; c = next) {
        next = c->next;
        free_call(c);
    }
    calls_done(&api->calls);
    credentials_free(api->credentials);
    free(api);
}

/* ---- replies --------------------------------------------------------------------------- */

static enum err_code code_of(long status)
{
    return status == 404 || status == 410   ? ERR_NOT_FOUND
           : status == 409                  ? ERR_CONFLICT
           : status == 401 || status == 403 ? ERR_DENIED
           : status == 400 || status == 422 ? ERR_INVALID
                                            : ERR_IO;
}

int kube_check(const struct call_reply *r, struct err *err)
{
    if (r->err.code != ERR_OK) {
        *err = r->err;
        return -1;
    }
    if (r->status >= 200 && r->status < 300)
        return 0;
    json_auto_t *v = json_loadb(r->body, r->n, 0, NULL);
    const char *text = json_string_value(json_object_get(v, "message"));
    return err_set(err, code_of(r->status), "%.200s",
                   text && *text ? text : "the API server refused the request and gave no reason");
}
