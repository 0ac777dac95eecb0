/* Owns the Lease of the active server. Clocks of different machines are not compared: whoever waits
 * measures with its own clock for how long the Lease has not changed. The holder gives up before
 * that, because its time to do so is shorter. */
#include "server/kubernetes/election.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/str.h"
#include "runtime/kubernetes/api.h"
#include "runtime/kubernetes/options.h"
#include "runtime/runtime.h"
#include "server/log.h"

/* A Lease lasts this long; its holder tries to renew it every few seconds, and stops when that has
 * failed for GIVE_UP. */
enum { LEASE_SECONDS = 15, TICK_MS = 200 };
#define GIVE_UP (9 * USEC_PER_SEC)
#define EVERY (2 * USEC_PER_SEC)
#define CALL_LIMIT (4 * USEC_PER_SEC)

struct election {
    struct runtime_host host; /* for the client: its clock */
    struct arena arena;
    struct kube_config config;
    const char *name;
    char identity[128];
    struct curl_loop *curl;
    struct kube_api *api;
    struct kube_call *call;
    uv_timer_t timer;
    uv_signal_t term, intr;
    json_t *lease;                 /* as it was last seen; NULL = there is none */
    char holder[128], version[64]; /* of it */
    usec_t changed;                /* when it was last seen to change */
    usec_t at, sent, renewed;      /* next try; begin of this one, and of the last good one */
    bool held, stopped, releasing, over;
    void (*lost)(void *ctx, const char *why);
    void *ctx;
    int open; /* handles of the loop */
};

static usec_t read_clock(const struct runtime_host *h)
{
    (void)h;
    return clock_read_boot();
}

/* ---- requests ------------------------------------------------------------------------------- */

static void look(void *ctx, const struct call_reply *r);

static void ask(struct election *e, const char *method, bool one, const char *body)
{
    struct str path = {0};
    str_addf(&path, "/apis/coordination.k8s.io/v1/namespaces/%s/leases%s%s", e->config.namespace,
             one ? "/" : "", one ? e->name : "");
    struct kube_request q = {.method = method,
                             .path = path.at,
                             .body = body,
                             .limit = CALL_LIMIT,
                             .done = look,
                             .ctx = e};
    e->sent = clock_read_boot();
    e->call = kube_ask(e->api, &q);
    str_done(&path);
}

static json_t *print_now(void)
{
    usec_t now = clock_read_wall();
    time_t seconds = now / USEC_PER_SEC;
    struct tm tm;
    char text[32];
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    return json_sprintf("%s.%06dZ", text, (int)(now % USEC_PER_SEC));
}

/* The API server refuses it if the Lease has changed since it was read. */
static void write_lease(struct election *e, const char *holder)
{
    const json_t *old = json_object_get(e->lease, "spec");
    json_int_t turns = json_integer_value(json_object_get(old, "leaseTransitions"));
    json_t *since = json_incref(json_object_get(old, "acquireTime"));
    bool ours = !strcmp(e->holder, e->identity);
    if (!ours) {
        json_decref(since);
        since = print_now();
    }
    json_auto_t *body = json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:i, s:o, s:o, s:I}}", "apiVersion",
                                  "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name",
                                  e->name, "spec", "holderIdentity", holder, "leaseDurationSeconds",
                                  *holder ? LEASE_SECONDS : 1, "acquireTime", since, "renewTime",
                                  print_now(), "leaseTransitions", turns + (e->lease && !ours));
    if (e->lease)
        json_object_set_new(json_object_get(body, "metadata"), "resourceVersion",
                            json_string(e->version));
    AUTO_FREE char *text = json_dumps(body, JSON_COMPACT);
    ask(e, e->lease ? "PUT" : "POST", e->lease != NULL, text);
}

/* ---- the Lease ----------------------------------------------------------------------------------
 */

static void take_lease(struct election *e, const struct call_reply *r)
{
    json_t *lease = json_loadb(r->body, r->n, 0, NULL);
    const char *version =
        json_string_value(json_object_get(json_object_get(lease, "metadata"), "resourceVersion"));
    const char *holder =
        json_string_value(json_object_get(json_object_get(lease, "spec"), "holderIdentity"));
    json_decref(e->lease);
    e->lease = lease;
    if (!version || strcmp(version, e->version) != 0)
        e->changed = clock_read_boot();
    snprintf(e->version, sizeof e->version, "%.63s", version ? version : "");
    snprintf(e->holder, sizeof e->holder, "%.127s", holder ? holder : "");
}

static void lose(struct election *e, const char *why)
{
    e->held = false;
    e->over = true;
    if (e->lost)
        e->lost(e->ctx, why);
}

/* It is nobody's, or its holder has been silent for as long as it lasts. */
static bool is_free(const struct election *e, usec_t now)
{
    json_int_t length = json_integer_value(
        json_object_get(json_object_get(e->lease, "spec"), "leaseDurationSeconds"));
    usec_t lasts = (length > 0 ? length : LEASE_SECONDS) * USEC_PER_SEC;
    return !e->lease || !*e->holder || now - e->changed >= lasts;
}

static void take_ours(struct election *e)
{
    if (!e->held)
        log_info("lease=%s is ours identity=%s", e->name, e->identity);
    e->held = true;
    e->renewed = e->sent;
}

static void look(void *ctx, const struct call_reply *r)
{
    struct election *e = ctx;
    struct err err;
    usec_t now = clock_read_boot();
    e->call = NULL;
    e->at = now + EVERY;
    if (e->releasing) {
        e->over = true;
        return;
    }
    bool was = !strcmp(e->holder, e->identity);
    char before[sizeof e->holder];
    snprintf(before, sizeof before, "%s", e->holder);
    if (kube_check(r, &err) == 0) {
        take_lease(e, r);
    } else if (err.code == ERR_NOT_FOUND) {
        json_decref(e->lease);
        e->lease = NULL;
        *e->holder = *e->version = '\0';
    } else if (err.code == ERR_CONFLICT) {
        *e->version = '\0'; /* it has changed: read it again */
        e->at = now;
        return;
    } else {
        log_warning("lease=%s %s", e->name, err.text);
        return;
    }
    if (!strcmp(e->holder, e->identity))
        take_ours(e);
    else if (e->held && was)
        lose(e, "another server has taken the Lease");
    else if (strcmp(before, e->holder) != 0 && *e->holder)
        log_info("lease=%s is held by %s; waiting", e->name, e->holder);
}

static void tick(uv_timer_t *timer)
{
    struct election *e = timer->data;
    usec_t now = clock_read_boot();
    if (kube_api_due(e->api) <= now)
        kube_api_turn(e->api, now);
    if (e->held && !e->over && now - e->renewed >= GIVE_UP)
        lose(e, "the Lease could not be renewed in time");
    if (e->call || e->over || now < e->at)
        return;
    bool unseen = !*e->version && (e->lease || !e->sent);
    if (!unseen && (e->held || is_free(e, now)))
        write_lease(e, e->identity);
    else
        ask(e, "GET", true, NULL);
}

/* ---- life
 * ----------------------------------------------------------------------------------------
 */

static void stop(uv_signal_t *signal, int number)
{
    struct election *e = signal->data;
    (void)number;
    e->stopped = true;
}

static void closed(uv_handle_t *handle)
{
    ((struct election *)handle->data)->open--;
}

static void close_signals(struct election *e)
{
    uv_close((uv_handle_t *)&e->term, closed);
    uv_close((uv_handle_t *)&e->intr, closed);
}

static void make_identity(struct election *e)
{
    char host[64] = "server";
    uint32_t random = 0;
    (void)gethostname(host, sizeof host - 1);
    (void)!getrandom(&random, sizeof random, 0);
    snprintf(e->identity, sizeof e->identity, "%.63s_%08x", host, random);
}

static int configure(struct election *e, struct uv_loop_s *loop, const struct kube_options *o,
                     struct err *err)
{
    struct kube_places places;
    kube_places_find(&e->arena, &places);
    if (kube_config_read(&places, o->context, &e->arena, &e->config, err) < 0 ||
        curl_loop_open(loop, &e->curl, err) < 0)
        return err_prefix(err, "--kube-lease");
    if (o->namespace)
        e->config.namespace = arena_strdup(&e->arena, o->namespace);
    e->name = arena_strdup(&e->arena, o->lease);
    runtime_host_init(&e->host);
    e->host.loop = loop;
    e->host.now = read_clock;
    e->api = kube_api_create(e->curl, &e->host, &e->config);
    return 0;
}

int election_win(struct uv_loop_s *loop, const struct kube_options *options, struct election **out,
                 struct err *err)
{
    struct election *e = xcalloc(1, sizeof *e);
    make_identity(e);
    if (configure(e, loop, options, err) < 0) {
        arena_done(&e->arena);
        free(e);
        return -1;
    }
    uv_timer_init(loop, &e->timer);
    uv_signal_init(loop, &e->term);
    uv_signal_init(loop, &e->intr);
    e->timer.data = e->term.data = e->intr.data = e;
    e->open = 3;
    uv_timer_start(&e->timer, tick, 0, TICK_MS);
    uv_signal_start(&e->term, stop, SIGTERM);
    uv_signal_start(&e->intr, stop, SIGINT);
    while (!e->held && !e->stopped)
        uv_run(loop, UV_RUN_ONCE);
    close_signals(e);
    *out = e->held ? e : NULL;
    if (!e->held)
        election_end(e);
    return 0;
}

void election_keep(struct election *e, void (*lost)(void *ctx, const char *why), void *ctx)
{
    e->lost = lost;
    e->ctx = ctx;
    /* The timer alone does not keep the server alive. */
    uv_unref((uv_handle_t *)&e->timer);
}

void election_end(struct election *e)
{
    if (!e)
        return;
    struct uv_loop_s *loop = e->timer.loop;
    kube_cancel(e->call);
    e->call = NULL;
    e->lost = NULL;
    uv_ref((uv_handle_t *)&e->timer);
    if (e->held && *e->version) {
        e->releasing = true;
        write_lease(e, "");
        usec_t until = clock_read_boot() + CALL_LIMIT;
        while (!e->over && clock_read_boot() < until)
            uv_run(loop, UV_RUN_ONCE);
    }
    kube_cancel(e->call);
    uv_close((uv_handle_t *)&e->timer, closed);
    while (e->open)
        uv_run(loop, UV_RUN_ONCE);
    kube_api_free(e->api);
    curl_loop_close(e->curl);
    json_decref(e->lease);
    arena_done(&e->arena);
    free(e);
}
