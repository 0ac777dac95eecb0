/* Owns which server a command talks to, and the error when there is none. */
#include "cli/server_link.h"
#include "cli/interrupt.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http/url.h"
#include "wire/dirs.h"

#define BASE "/api/v1"

enum { BACK_TRIES = 100, BACK_PAUSE = 300 * 1000 /* microseconds */ };

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The default socket; the caller frees it. */
static int own_socket(char **out, struct err *err)
{
    struct str path = {0};
    AUTO_FREE char *run = NULL;
    if (dirs_run(NULL, NULL, &run, err) < 0)
        return -1;
    str_addf(&path, "%s/trainyard.sock", run);
    *out = path.at;
    return 0;
}

/* Without a host, the path after it would be taken for one. */
static int check_host(const char *url, struct err *err)
{
    const char *host = strstr(url, "://") + strlen("://");
    if (*host && !strchr(":/?#", *host))
        return 0;
    return err_set(err, ERR_INVALID,
                   "'%.100s' has no host; expected an address such as http://127.0.0.1:8080", url);
}

int server_link_open(const struct args *args, const struct server_link_config *config,
                     struct server_link *out, struct err *err)
{
    const char *place = args_get(args, "server");
    AUTO_FREE char *own = NULL;
    struct http_client_config c = {.token = variable("TRAINYARD_TOKEN"),
                                   .pin = variable("TRAINYARD_FINGERPRINT")};
    if (place && !*place)
        return err_set(err, ERR_INVALID, "--server needs the path of a socket or a URL");
    place = place ? place : variable("TRAINYARD_SERVER");
    if (!place) {
        if (own_socket(&own, err) < 0)
            return -1;
        place = own;
    }
    if (!strstr(place, "://"))
        c.socket = place;
    else if (check_host(place, err) == 0)
        c.url = place;
    else
        return -1;
    if (config) {
        c.timeout_s = config->timeout_s;
        c.stop = config->stop;
        c.ctx = config->ctx;
    }
    out->url = c.url ? xstrdup(c.url) : NULL;
    for (size_t n = out->url ? strlen(out->url) : 0; n && out->url[n - 1] == '/'; n--)
        out->url[n - 1] = '\0';
    return http_client_create(&c, &out->http, err);
}

void server_link_close(struct server_link *l)
{
    http_client_free(l->http);
    free(l->url);
    *l = (struct server_link){0};
}

/* Adds what to do when there is no server. */
static int explained(const struct server_link *l, int rc, struct err *err)
{
    if (rc < 0 && err->code == ERR_UNREACHABLE && !http_client_reached(l->http)) {
        struct err why = *err;
        err_set(err, why.code, "%.200s; start one with `trainyard serve`", why.text);
    }
    return rc;
}

static char *full_path(const char *path)
{
    struct str full = {0};
    str_add(&full, BASE);
    str_add(&full, path);
    return full.at;
}

int server_link_call(struct server_link *l, const char *method, const char *path,
                     const json_t *body, json_t **out, struct err *err)
{
    AUTO_FREE char *full = full_path(path);
    return explained(l, http_client_json(l->http, method, full, body, out, err), err);
}

int server_link_get(struct server_link *l, const char *path, json_t **out, struct err *err)
{
    return server_link_call(l, "GET", path, NULL, out, err);
}

int server_link_stream(struct server_link *l, const char *path,
                       int (*each)(void *ctx, const char *bytes, size_t n), void *ctx,
                       struct err *err)
{
    AUTO_FREE char *full = full_path(path);
    return explained(l, http_client_stream(l->http, full, each, ctx, err), err);
}

int server_link_events(struct server_link *l, const char *path, const char *last_id,
                       int (*each)(void *ctx, const struct sse_event *event), void *ctx,
                       struct err *err)
{
    AUTO_FREE char *full = full_path(path);
    return explained(l, http_client_events(l->http, full, last_id, each, ctx, err), err);
}

char *server_link_job_path(const char *job, const char *what)
{
    struct str path = {0};
    str_add(&path, "/jobs/");
    url_add_escaped(&path, job);
    if (what)
        str_addf(&path, "/%s", what);
    return path.at;
}

int server_link_wait_back(struct server_link *l, struct err *err)
{
    int rc = -1;
    for (int i = 0; i < BACK_TRIES; i++) {
        interrupt_sleep(BACK_PAUSE);
        rc = server_link_get(l, "/ready", NULL, err);
        if (rc == 0 || err->code != ERR_UNREACHABLE)
            break;
    }
    return rc;
}
