/* Owns the client: one curl handle, driven by curl's multi interface so that a signal ends a
 * wait at once and `stop` is called.
 *
 * Every request is a struct exchange. Where its bytes go depends on the status, because the
 * body of a failed stream is a problem that must be read as a whole. */
#include "http/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/problem.h"

#define CONNECT_MS 2000L
#define POLL_MS 1000
/* The largest answer that is kept in memory. */
#define ANSWER_LIMIT (256u << 20)
/* The server sends a comment on event streams every 15 s; silence for this long means that the
 * server or the connection is gone. */
#define SILENCE_S 90L

struct http_client {
    CURL *curl;
    CURLM *multi;
    char *base, *socket, *authorization, *ca_file, *pin;
    struct curl_slist *headers;
    long timeout_s;
    bool (*stop)(void *ctx);
    void *ctx;
};

struct exchange {
    struct http_client *client;
    struct str body; /* what is not passed to `take` */
    int (*take)(struct exchange *x, const char *bytes, size_t n);
    int result; /* of take, when it was not 0 */
    struct err err;
    int (*each_chunk)(void *ctx, const char *bytes, size_t n);
    int (*each_event)(void *ctx, const struct sse_event *event);
    void *ctx;
    struct sse_reader reader;
};

/* ---- life ------------------------------------------------------------------ */

static int check_config(const struct http_client_config *config, struct err *err)
{
    if (!config->socket == !config->url)
        return err_set(err, ERR_INVALID, "give either the socket or the address of the server");
    if (config->url && strncmp(config->url, "http://", 7) != 0 &&
        strncmp(config->url, "https://", 8) != 0)
        return err_set(err, ERR_INVALID,
                       "'%s': the address of a server must start with http:// or "
                       "https://",
                       config->url);
    if (config->pin && strncmp(config->pin, "sha256//", 8) != 0)
        return err_set(err, ERR_INVALID, "fingerprint '%.80s': expected sha256// and 44 characters",
                       config->pin);
    if (config->token && config->token[strcspn(config->token, "\r\n")])
        return err_set(err, ERR_INVALID, "the token must be a single line");
    return 0;
}

static char *copy_or_null(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static char *bearer(const char *token)
{
    struct str s = {0};
    if (token)
        str_addf(&s, "Authorization: Bearer %s", token);
    return s.at;
}

int http_client_create(const struct http_client_config *config, struct http_client **out,
                       struct err *err)
{
    if (check_config(config, err) < 0)
        return -1;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return err_set(err, ERR_INTERNAL, "cannot initialise libcurl");
    struct http_client *c = xcalloc(1, sizeof *c);
    c->base = xstrdup(config->url ? config->url : "http://localhost");
    for (size_t n = strlen(c->base); n && c->base[n - 1] == '/'; n--)
        c->base[n - 1] = '\0';
    c->socket = copy_or_null(config->socket);
    c->authorization = bearer(config->token);
    c->ca_file = copy_or_null(config->ca_file);
    c->pin = copy_or_null(config->pin);
    for (const char *const *h = config->headers; h && *h; h++)
        c->headers = curl_slist_append(c->headers, *h);
    c->timeout_s = config->timeout_s ? (long)config->timeout_s : 30;
    c->stop = config->stop;
    c->ctx = config->ctx;
    c->curl = curl_easy_init();
    c->multi = curl_multi_init();
    if (!c->curl || !c->multi) {
        http_client_free(c);
        return err_set(err, ERR_INTERNAL, "cannot initialise libcurl");
    }
    *out = c;
    return 0;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    curl_easy_cleanup(c->curl);
    curl_multi_cleanup(c->multi);
    free(c->base);
    free(c->socket);
    free(c->authorization);
    free(c->ca_file);
    free(c->pin);
    curl_slist_free_all(c->headers);
    free(c);
    curl_global_cleanup();
}

void http_answer_done(struct http_answer *a)
{
    free(a->type);
    str_done(&a->body);
    *a = (struct http_answer){0};
}

/* ---- one exchange ---------------------------------------------------------- */

static long status_of(const struct http_client *c)
{
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct exchange *x = ctx;
    size_t n = size * count;
    if (x->take && status_of(x->client) < 300) {
        x->result = x->take(x, bytes, n);
        return x->result ? CURL_WRITEFUNC_ERROR : n;
    }
    if (x->body.n + n > ANSWER_LIMIT) {
        x->result =
            err_set(&x->err, ERR_LIMIT, "the answer is larger than %u MiB", ANSWER_LIMIT >> 20);
        return CURL_WRITEFUNC_ERROR;
    }
    str_add_n(&x->body, bytes, n);
    return n;
}

static const char *place(const struct http_client *c)
{
    return c->socket ? c->socket : c->base;
}

/* The error of curl in words that do not need knowledge of curl. */
static int transfer_error(const struct http_client *c, CURLcode code, const char *text,
                          struct err *err)
{
    long why = 0;
    curl_easy_getinfo(c->curl, CURLINFO_OS_ERRNO, &why);
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        if (why == EACCES || why == EPERM)
            return err_set(err, ERR_DENIED, "no permission to connect to the server at %s",
                           place(c));
        return err_set(err, ERR_UNREACHABLE, "no server answers at %s: %s", place(c),
                       why ? strerror((int)why) : text);
    case CURLE_OPERATION_TIMEDOUT:
        return err_set(err, ERR_UNREACHABLE, "the server at %s does not answer: %s", place(c),
                       text);
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
        return err_set(err, ERR_UNREACHABLE, "the server at %s closed the connection", place(c));
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return err_set(err, ERR_DENIED,
                       "the server at %s is not the one whose fingerprint you have; do not send it "
                       "your token",
                       place(c));
    case CURLE_PEER_FAILED_VERIFICATION:
        return err_set(err, ERR_DENIED,
                       "the certificate of %s is not trusted: %s; if the server made it, set "
                       "TRAINYARD_FINGERPRINT to the fingerprint in the server's log",
                       place(c), text);
    case CURLE_URL_MALFORMAT:
        return err_set(err, ERR_INVALID, "'%s' is not the address of a server", place(c));
    default:
        return err_set(err, ERR_UNREACHABLE, "cannot talk to the server at %s: %s", place(c), text);
    }
}

/* Runs the transfer that the handle is set up for. Returns -2 when `stop` ended it. */
static int run(struct http_client *c, CURLcode *result)
{
    int running = 1, left;
    bool stopped = false;
    curl_multi_add_handle(c->multi, c->curl);
    while (running && !stopped) {
        if (curl_multi_perform(c->multi, &running) != CURLM_OK)
            break;
        stopped = c->stop && c->stop(c->ctx);
        if (running && !stopped)
            curl_multi_poll(c->multi, NULL, 0, POLL_MS, NULL);
    }
    *result = CURLE_ABORTED_BY_CALLBACK;
    for (CURLMsg *m; (m = curl_multi_info_read(c->multi, &left));)
        if (m->msg == CURLMSG_DONE)
            *result = m->data.result;
    curl_multi_remove_handle(c->multi, c->curl);
    return stopped && running ? -2 : 0;
}

static int perform(struct http_client *c, struct exchange *x, struct err *err)
{
    char text[CURL_ERROR_SIZE] = "";
    CURLcode code;
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, text);
    int rc = run(c, &code);
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, NULL);
    if (rc)
        return err_set(err, ERR_IO, "interrupted");
    if (x->result < 0) {
        *err = x->err;
        return -1;
    }
    if (x->result > 0)
        return x->result;
    if (code != CURLE_OK)
        return transfer_error(c, code, *text ? text : curl_easy_strerror(code), err);
    return 0;
}

/* The handle keeps its connections when its options are reset. */
static void set_up(struct http_client *c, struct exchange *x, const char *url,
                   struct curl_slist *headers)
{
    curl_easy_reset(c->curl);
    curl_easy_setopt(c->curl, CURLOPT_URL, url);
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    /* A job may be named "..". */
    curl_easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(c->curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(c->curl, CURLOPT_USERAGENT, "trainyard");
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, x);
    if (c->ca_file)
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->ca_file);
    if (c->pin) { /* the key says which server it is, so names and signatures need not */
        curl_easy_setopt(c->curl, CURLOPT_PINNEDPUBLICKEY, c->pin);
        curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (c->socket) {
        curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, c->socket);
        curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
    }
}

static struct curl_slist *base_headers(const struct http_client *c)
{
    struct curl_slist *list = NULL;
    if (c->authorization)
        list = curl_slist_append(list, c->authorization);
    for (const struct curl_slist *h = c->headers; h; h = h->next)
        list = curl_slist_append(list, h->data);
    /* Otherwise curl waits for "100 Continue" before it sends a large body. */
    return curl_slist_append(list, "Expect:");
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
    struct str line = {0};
    str_addf(&line, "%s: %s", name, value);
    list = curl_slist_append(list, line.at);
    str_done(&line);
    return list;
}

static char *url_of(const struct http_client *c, const char *path)
{
    struct str url = {0};
    str_add(&url, c->base);
    str_add(&url, path);
    return url.at;
}

/* ---- requests -------------------------------------------------------------- */

static void take_answer(struct http_client *c, struct exchange *x, struct http_answer *answer)
{
    const char *type = NULL;
    curl_easy_getinfo(c->curl, CURLINFO_CONTENT_TYPE, &type);
    *answer = (struct http_answer){(int)status_of(c), xstrdup(type ? type : ""), x->body};
    x->body = (struct str){0};
}

int http_client_send(struct http_client *c, const char *method, const char *path, const char *type,
                     const char *body, size_t n, struct http_answer *answer, struct err *err)
{
    struct exchange x = {.client = c};
    AUTO_FREE char *url = url_of(c, path);
    struct curl_slist *headers = base_headers(c);
    if (body)
        headers = add_header(headers, "Content-Type", type);
    set_up(c, &x, url, headers);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, c->timeout_s);
    if (body) {
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
    }
    if (!strcmp(method, "HEAD"))
        curl_easy_setopt(c->curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
    int rc = perform(c, &x, err);
    if (!rc)
        take_answer(c, &x, answer);
    str_done(&x.body);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return rc;
}

bool http_client_reached(struct http_client *c)
{
    curl_off_t connected = 0;
    curl_easy_getinfo(c->curl, CURLINFO_PRETRANSFER_TIME_T, &connected);
    return connected > 0;
}

const char *http_client_header(struct http_client *c, const char *name)
{
    struct curl_header *found;
    return curl_easy_header(c->curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value
                                                                                     : NULL;
}

static int read_json(const struct http_answer *a, json_t **out, struct err *err)
{
    json_error_t error;
    if (a->status >= 400)
        return problem_to_err(a->status, a->body.at, a->body.n, err);
    json_t *root = NULL;
    if (a->body.n) {
        root = json_loadb(a->body.at, a->body.n, JSON_DECODE_ANY, &error);
        if (!root)
            return err_set(err, ERR_INTERNAL, "the server's answer is not JSON: line %d: %s",
                           error.line, error.text);
    }
    if (out)
        *out = root;
    else
        json_decref(root);
    return 0;
}

int http_client_json(struct http_client *c, const char *method, const char *path,
                     const json_t *body, json_t **out, struct err *err)
{
    struct http_answer answer = {0};
    AUTO_FREE char *text = NULL;
    if (body && !(text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY)))
        return err_set(err, ERR_INTERNAL, "the request could not be written as JSON");
    if (http_client_send(c, method, path, "application/json", text, text ? strlen(text) : 0,
                         &answer, err) < 0)
        return -1;
    int rc = read_json(&answer, out, err);
    http_answer_done(&answer);
    return rc;
}

/* ---- streams --------------------------------------------------------------- */

static int stream(struct http_client *c, const char *path, struct curl_slist *headers,
                  struct exchange *x, struct err *err)
{
    AUTO_FREE char *url = url_of(c, path);
    set_up(c, x, url, headers);
    if (x->each_event) {
        curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
    }
    int rc = perform(c, x, err);
    if (!rc && status_of(c) >= 300)
        rc = problem_to_err((int)status_of(c), x->body.at, x->body.n, err);
    str_done(&x->body);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return rc;
}

static int take_chunk(struct exchange *x, const char *bytes, size_t n)
{
    return x->each_chunk(x->ctx, bytes, n);
}

int http_client_stream(struct http_client *c, const char *path,
                       int (*each)(void *ctx, const char *bytes, size_t n), void *ctx,
                       struct err *err)
{
    struct exchange x = {.client = c, .take = take_chunk, .each_chunk = each, .ctx = ctx};
    return stream(c, path, base_headers(c), &x, err);
}

static int take_events(struct exchange *x, const char *bytes, size_t n)
{
    return sse_read(&x->reader, bytes, n, x->each_event, x->ctx, &x->err);
}

int http_client_events(struct http_client *c, const char *path, const char *last_id,
                       int (*each)(void *ctx, const struct sse_event *event), void *ctx,
                       struct err *err)
{
    struct exchange x = {.client = c, .take = take_events, .each_event = each, .ctx = ctx};
    struct curl_slist *headers = add_header(base_headers(c), "Accept", "text/event-stream");
    if (last_id && *last_id)
        headers = add_header(headers, "Last-Event-ID", last_id);
    int rc = stream(c, path, headers, &x, err);
    sse_reader_done(&x.reader);
    return rc;
}
