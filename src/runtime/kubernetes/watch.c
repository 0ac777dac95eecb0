/* Owns the following of collections.
 *
 * What comes in the middle of a transfer is kept and told in the next turn, because libcurl must
 * not be called from its own callbacks. */
#include "runtime/kubernetes/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/runtime.h"

/* The server ends a watch after this; the client a little later. */
enum { WATCH_SECONDS = 290, LIST_PART = 500, LINE_MAX_BYTES = 32 << 20 };
#define LIST_LIMIT (60 * USEC_PER_SEC)
#define WATCH_LIMIT ((WATCH_SECONDS + 30) * USEC_PER_SEC)
#define PAUSE_FIRST (USEC_PER_SEC / 2)
#define PAUSE_LONGEST (20 * USEC_PER_SEC)
enum { GONE = 410 };

struct kube_watch {
    struct kube_api *api;
    struct runtime_host *host;
    char *path, *query;
    const struct kube_watch_user *user;
    void *ctx;
    struct kube_call *call; /* NULL = none */
    char version[64];       /* "" = list it */
    char *rest;             /* where the list goes on; NULL = at its beginning */
    struct str line;        /* of the watch, incomplete */
    VEC(json_t *) news;     /* not told yet */
    usec_t at, pause;
};

/* ---- the list ------------------------------------------------------------------------- */

static void wait_longer(struct kube_watch *w)
{
    w->at = w->host->now(w->host) + w->pause;
    w->pause = w->pause * 2 < PAUSE_LONGEST ? w->pause * 2 : PAUSE_LONGEST;
}

static void fail(struct kube_watch *w, const struct err *why)
{
    wait_longer(w);
    w->user->failed(w->ctx, why);
}

static void start_over(struct kube_watch *w)
{
    *w->version = '\0';
    free(w->rest);
    w->rest = NULL;
}

static void set_version(struct kube_watch *w, const json_t *metadata)
{
    const char *v = json_string_value(json_object_get(metadata, "resourceVersion"));
    if (v && *v)
        snprintf(w->version, sizeof w->version, "%.63s", v);
}

static void take_list(struct kube_watch *w, const json_t *list)
{
    const json_t *metadata = json_object_get(list, "metadata"), *object;
    const char *rest = json_string_value(json_object_get(metadata, "continue"));
    size_t i;
    if (!w->rest)
        w->user->lists(w->ctx);
    json_array_foreach(json_object_get(list, "items"), i, object)
    {
        w->user->object(w->ctx, object, false);
    }
    free(w->rest);
    w->rest = rest && *rest ? xstrdup(rest) : NULL;
    w->at = 0;
    if (w->rest)
        return;
    set_version(w, metadata);
    w->pause = PAUSE_FIRST;
    w->user->listed(w->ctx);
}

static void on_list(void *ctx, const struct call_reply *r)
{
    struct kube_watch *w = ctx;
    struct err err;
    w->call = NULL;
    if (r->err.code == ERR_OK && r->status == GONE) {
        start_over(w); /* the list has become too old while it was read */
        wait_longer(w);
        return;
    }
    if (kube_check(r, &err) < 0) {
        start_over(w);
        fail(w, &err);
        return;
    }
    json_auto_t *list = json_loadb(r->body, r->n, 0, NULL);
    if (!json_is_object(list)) {
        err_set(&err, ERR_INVALID, "the API server sent a list that is not JSON");
        start_over(w);
        fail(w, &err);
        return;
    }
    take_list(w, list);
}

static void add_escaped(struct str *out, const char *text)
{
    char *escaped = curl_easy_escape(NULL, text, 0);
    str_add(out, escaped ? escaped : "");
    curl_free(escaped);
}

static void begin_list(struct kube_watch *w)
{
    struct str path = {0};
    str_addf(&path, "%s?limit=%d%s%s", w->path, LIST_PART, *w->query ? "&" : "", w->query);
    if (w->rest) {
        str_add(&path, "&continue=");
        add_escaped(&path, w->rest);
    }
    struct kube_request q = {
        .method = "GET", .path = path.at, .limit = LIST_LIMIT, .done = on_list, .ctx = w};
    w->call = kube_ask(w->api, &q);
    str_done(&path);
}

/* ---- the watch ------------------------------------------------------------------------- */

static void on_bytes(void *ctx, const char *bytes, size_t n)
{
    struct kube_watch *w = ctx;
    while (n) {
        const char *newline = memchr(bytes, '\n', n);
        size_t part = newline ? (size_t)(newline - bytes) : n;
        if (w->line.n + part <= LINE_MAX_BYTES)
            str_add_n(&w->line, bytes, part);
        bytes += part + (newline != NULL);
        n -= part + (newline != NULL);
        if (!newline)
            return;
        json_t *event = w->line.n ? json_loadb(w->line.at, w->line.n, 0, NULL) : NULL;
        if (event)
            VEC_PUSH(&w->news, event);
        w->line.n = 0;
    }
}

static void on_end(void *ctx, const struct call_reply *r)
{
    struct kube_watch *w = ctx;
    struct err err;
    w->call = NULL;
    w->line.n = 0;
    if (r->err.code == ERR_OK && r->status == GONE) {
        start_over(w);
        w->at = 0;
    } else if (r->err.code != ERR_OK && r->status == 200) {
        wait_longer(w); /* cut in the middle; go on where it was */
    } else if (kube_check(r, &err) < 0) {
        fail(w, &err);
    } else {
        w->at = 0;
    }
}

static void begin_watch(struct kube_watch *w)
{
    struct str path = {0};
    str_addf(&path, "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s%s%s",
             w->path, WATCH_SECONDS, w->version, *w->query ? "&" : "", w->query);
    struct kube_request q = {.method = "GET",
                             .path = path.at,
                             .limit = WATCH_LIMIT,
                             .stream = true,
                             .done = on_end,
                             .bytes = on_bytes,
                             .ctx = w};
    w->call = kube_ask(w->api, &q);
    str_done(&path);
}

/* False if the list is needed again. */
static bool take_event(struct kube_watch *w, const json_t *event)
{
    const char *type = json_string_value(json_object_get(event, "type"));
    const json_t *object = json_object_get(event, "object");
    if (!type || !strcmp(type, "ERROR"))
        return false;
    w->pause = PAUSE_FIRST;
    set_version(w, json_object_get(object, "metadata"));
    if (strcmp(type, "BOOKMARK") != 0)
        w->user->object(w->ctx, object, !strcmp(type, "DELETED"));
    return true;
}

static void tell_news(struct kube_watch *w)
{
    bool good = true;
    for (size_t i = 0; i < w->news.n; i++) {
        good = good && take_event(w, w->news.at[i]);
        json_decref(w->news.at[i]);
    }
    w->news.n = 0;
    if (good)
        return;
    kube_cancel(w->call);
    w->call = NULL;
    start_over(w);
    wait_longer(w);
}

/* ---- time -------------------------------------------------------------------------------- */

usec_t kube_watch_due(const struct kube_watch *w)
{
    return w->news.n ? 0 : w->call ? USEC_NEVER : w->at;
}

void kube_watch_turn(struct kube_watch *w, usec_t now)
{
    tell_news(w);
    if (w->call || w->at > now)
        return;
    if (*w->version)
        begin_watch(w);
    else
        begin_list(w);
}

void kube_watch_renew(struct kube_watch *w)
{
    kube_cancel(w->call);
    w->call = NULL;
    w->line.n = 0;
    if (!*w->version)
        start_over(w);
    w->at = 0;
}

struct kube_watch *kube_watch_create(struct kube_api *api, struct runtime_host *host,
                                     const char *path, const char *query,
                                     const struct kube_watch_user *user, void *ctx)
{
    struct kube_watch *w = xcalloc(1, sizeof *w);
    *w = (struct kube_watch){.api = api,
                             .host = host,
                             .path = xstrdup(path),
                             .query = xstrdup(query),
                             .user = user,
                             .ctx = ctx,
                             .pause = PAUSE_FIRST};
    return w;
}

void kube_watch_free(struct kube_watch *w)
{
    if (!w)
        return;
    kube_cancel(w->call);
    for (size_t i = 0; i < w->news.n; i++)
        json_decref(w->news.at[i]);
    VEC_DONE(&w->news);
    str_done(&w->line);
    free(w->rest);
    free(w->path);
    free(w->query);
    free(w);
}
