/* Owns credentials: a file that is read again every minute, because Kubernetes replaces the tokens
 * of service accounts before they expire, or a program that prints a token and when it expires. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/kubernetes/credentials.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/str.h"
#include "runtime/runtime.h"

#define FILE_EVERY (60 * USEC_PER_SEC)
#define EARLY (60 * USEC_PER_SEC)      /* before they expire, new ones are asked for */
#define RETRY_AFTER (5 * USEC_PER_SEC) /* a plugin that has failed */
#define PLUGIN_LIMIT_MS 60000
enum { OUTPUT_MAX = 1 << 20 };

struct run {
    struct credentials *owner; /* NULL = nobody waits for it any more */
    uv_process_t process;
    uv_pipe_t out;
    uv_timer_t limit;
    struct str text;
    int open; /* handles */
    char bytes[4096];
};

struct credentials {
    struct runtime_host *host;
    const struct kube_config *config;
    void (*changed)(void *ctx);
    void *ctx;
    char *token, *cert, *key;
    usec_t renew; /* wall time; USEC_NEVER = not */
    struct run *run;
    char trouble[200];
};

static usec_t read_wall(const struct credentials *c)
{
    return c->host->wall(c->host);
}

/* ---- reading ------------------------------------------------------------------------- */

static char *member(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    return text && *text ? xstrdup(text) : NULL;
}

static usec_t read_time(const char *text)
{
    struct tm tm = {0};
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    return rest && (*rest == 'Z' || *rest == '.' || *rest == '+') ? timegm(&tm) * USEC_PER_SEC
                                                                  : USEC_NEVER;
}

int credentials_parse(const char *text, size_t n, char **token, char **cert, char **key,
                      usec_t *expires, struct err *err)
{
    json_error_t bad;
    json_auto_t *v = json_loadb(text, n, 0, &bad);
    const json_t *status = json_object_get(v, "status");
    if (!v)
        return err_set(err, ERR_INVALID, "it printed no ExecCredential: %.80s", bad.text);
    char *t = member(status, "token"), *c = member(status, "clientCertificateData");
    char *k = member(status, "clientKeyData");
    if (!t && !(c && k)) {
        free(c);
        free(k);
        return err_set(err, ERR_INVALID,
                       "its ExecCredential has neither a token nor a "
                       "certificate");
    }
    *token = t;
    *cert = c;
    *key = k;
    *expires = read_time(json_string_value(json_object_get(status, "expirationTimestamp")));
    return 0;
}

static void replace(char **to, char *text)
{
    if (*to)
        explicit_bzero(*to, strlen(*to));
    free(*to);
    *to = text;
}

static void fail(struct credentials *c, const char *why)
{
    const struct kube_plugin *p = &c->config->plugin;
    snprintf(c->trouble, sizeof c->trouble, "no credentials: %.60s: %.100s%s%.30s",
             p->command ? p->command : c->config->token_file, why, p->hint ? "; " : "",
             p->hint ? p->hint : "");
    c->renew = read_wall(c) + RETRY_AFTER;
}

static void read_token_file(struct credentials *c)
{
    char bytes[16384];
    FILE *f = fopen(c->config->token_file, "re");
    size_t n = f ? fread(bytes, 1, sizeof bytes - 1, f) : 0;
    if (f)
        fclose(f);
    bytes[n] = '\0';
    bytes[strcspn(bytes, " \r\n")] = '\0';
    if (!*bytes) {
        fail(c, "the file cannot be read");
        return;
    }
    replace(&c->token, xstrdup(bytes));
    explicit_bzero(bytes, sizeof bytes);
    *c->trouble = '\0';
    c->renew = read_wall(c) + FILE_EVERY;
}

/* ---- plugins -------------------------------------------------------------------------- */

static void handle_closed(uv_handle_t *handle)
{
    struct run *r = handle->data;
    if (--r->open)
        return;
    str_done(&r->text);
    free(r);
}

static void end_run(struct run *r)
{
    uv_handle_t *const handles[] = {(uv_handle_t *)&r->process, (uv_handle_t *)&r->out,
                                    (uv_handle_t *)&r->limit};
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        if (!uv_is_closing(handles[i]))
            uv_close(handles[i], handle_closed);
}

static void take_output(struct credentials *c, const struct str *text)
{
    struct err err;
    char *token, *cert, *key;
    usec_t expires;
    if (credentials_parse(text->n ? text->at : "", text->n, &token, &cert, &key, &expires, &err) <
        0) {
        fail(c, err.text);
        return;
    }
    replace(&c->token, token);
    replace(&c->cert, cert);
    replace(&c->key, key);
    *c->trouble = '\0';
    c->renew = expires == USEC_NEVER ? USEC_NEVER : expires - EARLY;
}

static void run_over(struct run *r, const char *why)
{
    struct credentials *c = r->owner;
    r->owner = NULL;
    uv_process_kill(&r->process, SIGKILL);
    end_run(r);
    if (!c)
        return;
    c->run = NULL;
    if (why)
        fail(c, why);
    else
        take_output(c, &r->text);
    c->changed(c->ctx);
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct run *r = handle->data;
    (void)suggested;
    *buf = uv_buf_init(r->bytes, sizeof r->bytes);
}

static void take_part(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct run *r = stream->data;
    if (n < 0)
        run_over(r, NULL); /* its output has ended, and with it the plugin */
    else if (r->text.n + (size_t)n > OUTPUT_MAX)
        run_over(r, "it prints too much");
    else
        str_add_n(&r->text, buf->base, (size_t)n);
}

static void on_limit(uv_timer_t *timer)
{
    run_over(timer->data, "it does not end");
}

/* How it ended is told by what it printed. */
static void on_exit_of_plugin(uv_process_t *process, int64_t status, int signal)
{
    (void)process;
    (void)status;
    (void)signal;
}

static char **make_env(const struct kube_plugin *p, char *info)
{
    size_t had = 0, added = 0;
    while (environ[had])
        had++;
    while (p->env[added])
        added++;
    char **env = xcalloc(had + added + 2, sizeof *env);
    memcpy(env, p->env, added * sizeof *env); /* the first of a name counts */
    memcpy(env + added, environ, had * sizeof *env);
    env[had + added] = info;
    return env;
}

static void run_plugin(struct credentials *c)
{
    const struct kube_plugin *p = &c->config->plugin;
    struct run *r = xcalloc(1, sizeof *r);
    struct str info = {0};
    size_t n = 0;
    while (p->args[n])
        n++;
    char **args = xcalloc(n + 2, sizeof *args);
    args[0] = (char *)p->command;
    memcpy(args + 1, p->args, n * sizeof *args);
    str_addf(&info,
             "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"%s\","
             "\"spec\":{\"interactive\":false}}",
             p->version ? p->version : "client.authentication.k8s.io/v1");
    char **env = make_env(p, info.at);
    *r = (struct run){.owner = c, .open = 3};
    c->run = r;
    uv_pipe_init(c->host->loop, &r->out, 0);
    uv_timer_init(c->host->loop, &r->limit);
    r->process.data = r->out.data = r->limit.data = r;
    uv_stdio_container_t streams[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&r->out},
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO}};
    uv_process_options_t options = {.file = p->command,
                                    .args = args,
                                    .env = env,
                                    .exit_cb = on_exit_of_plugin,
                                    .stdio = streams,
                                    .stdio_count = COUNT_OF(streams)};
    int rc = uv_spawn(c->host->loop, &r->process, &options);
    r->process.data = r;
    if (rc < 0) {
        c->run = NULL;
        r->owner = NULL;
        end_run(r);
        fail(c, uv_strerror(rc));
    } else {
        uv_timer_start(&r->limit, on_limit, PLUGIN_LIMIT_MS, 0);
        uv_read_start((uv_stream_t *)&r->out, give_room, take_part);
    }
    str_done(&info);
    free(args);
    free(env);
}

/* ---- life ----------------------------------------------------------------------------- */

struct credentials *credentials_create(struct runtime_host *host, const struct kube_config *config,
                                       void (*changed)(void *ctx), void *ctx)
{
    struct credentials *c = xcalloc(1, sizeof *c);
    c->host = host;
    c->config = config;
    c->changed = changed;
    c->ctx = ctx;
    bool renews = config->plugin.command || config->token_file;
    c->renew = renews ? 0 : USEC_NEVER;
    c->token = config->token ? xstrdup(config->token) : NULL;
    return c;
}

void credentials_free(struct credentials *c)
{
    if (!c)
        return;
    if (c->run) {
        c->run->owner = NULL;
        run_over(c->run, NULL);
    }
    replace(&c->token, NULL);
    replace(&c->cert, NULL);
    replace(&c->key, NULL);
    free(c);
}

bool credentials_ready(struct credentials *c)
{
    if (c->run || read_wall(c) < c->renew)
        return !*c->trouble && (c->renew != 0);
    if (c->config->plugin.command)
        run_plugin(c);
    else
        read_token_file(c);
    return !c->run && !*c->trouble;
}

void credentials_refused(struct credentials *c)
{
    if (c->renew != USEC_NEVER && !c->run && !*c->trouble)
        c->renew = 0;
}

const char *credentials_token(const struct credentials *c)
{
    return c->token;
}

const char *credentials_cert(const struct credentials *c)
{
    return c->cert ? c->cert : c->config->cert;
}

const char *credentials_key(const struct credentials *c)
{
    return c->key ? c->key : c->config->key;
}

const char *credentials_trouble(const struct credentials *c)
{
    return c->trouble;
}
