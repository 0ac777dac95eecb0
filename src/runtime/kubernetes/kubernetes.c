/* The Kubernetes runtime: each attempt is a pod. This file owns the list of attempts and the table
 * of functions. cluster.c has the nodes, pods.c what the watch tells of our pods; operations.c,
 * start.c and settle.c carry out operations, link.c and log.c talk to conductors through the API
 * server.
 *
 * The API server is the record: a pod has the attempt's name, which exists once, and labels with
 * the identity of the server's state, so servers with different state leave each other's pods
 * alone. */
#include "runtime/kubernetes/kubernetes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kubernetes/cluster.h"
#include "runtime/kubernetes/link.h"
#include "runtime/kubernetes/log.h"
#include "runtime/kubernetes/operations.h"
#include "runtime/kubernetes/pod.h"
#include "runtime/kubernetes/pods.h"
#include "runtime/kubernetes/start.h"
#include "runtime/kubernetes/yaml.h"
#include "runtime/tools.h"

usec_t kube_now(const struct runtime *r)
{
    return r->host->now(r->host);
}

void kube_add_pod_path(const struct runtime *r, const char *pod, const char *rest, struct str *out)
{
    str_addf(out, "/api/v1/namespaces/%s/pods%s%s%s", r->config.namespace, *pod ? "/" : "", pod,
             rest);
}

/* ---- attempts ------------------------------------------------------------------------- */

struct kube_attempt *kube_find(const struct runtime *r, struct attempt_id id)
{
    for (size_t i = 0; i < r->attempts.n; i++)
        if (attempt_id_same(r->attempts.at[i]->id, id))
            return r->attempts.at[i];
    return NULL;
}

static struct kube_attempt *add_attempt(struct runtime *r, struct attempt_id id, const char *node)
{
    struct kube_attempt *a = xcalloc(1, sizeof *a);
    a->id = id;
    a->runtime = r;
    a->node = xstrdup(node);
    a->at = USEC_NEVER;
    snprintf(a->name, sizeof a->name, "trainyard-%s-%lld-%u", r->yard, (long long)id.job, id.n);
    if (id.part)
        snprintf(a->name + strlen(a->name), sizeof a->name - strlen(a->name), "-%u", id.part);
    kube_link_init(a);
    VEC_PUSH(&r->attempts, a);
    return a;
}

static void free_attempt(struct kube_attempt *a)
{
    kube_cancel(a->call);
    kube_cancel(a->log_call);
    relay_link_end(&a->link);
    kube_start_done(a->start);
    affinity_done(&a->cpus);
    free(a->node);
    free(a);
}

void kube_forget(struct kube_attempt *a)
{
    struct runtime *r = a->runtime;
    size_t i = 0;
    while (r->attempts.at[i] != a)
        i++;
    r->attempts.at[i] = r->attempts.at[--r->attempts.n];
    free_attempt(a);
}

/* ---- operations ------------------------------------------------------------------------- */

static void begin(struct runtime *r, struct runtime_op *op)
{
    struct kube_attempt *a = kube_find(r, op->id);
    if (!a)
        a = add_attempt(r, op->id, op->node);
    a->op = op;
    a->held = !kube_cluster_connected(r->cluster) || !r->discovered;
    if (!a->held)
        kube_operation_begin(a);
}

/* While the API server does not answer, operations wait for it, until their deadlines. */
static void pursue_held(struct kube_attempt *a, usec_t now)
{
    const struct runtime *r = a->runtime;
    struct err err;
    if (kube_cluster_connected(r->cluster) && r->discovered) {
        a->held = false;
        kube_operation_begin(a);
    } else if (a->op->deadline <= now) {
        a->held = false;
        err_set(&err, ERR_UNREACHABLE, "%s", kube_cluster_trouble(r->cluster));
        kube_operation_complete(a, &err);
    }
}

static void adopt(struct runtime *r, struct attempt_id id, const char *node,
                  const struct runtime_size *size)
{
    (void)size; /* the resize that follows sets it */
    if (!kube_find(r, id))
        add_attempt(r, id, node);
}

/* Pods are compared with what is wanted when the API server tells of them. */
static void sweep(struct runtime *r)
{
    r->swept = true;
}

/* ---- time ----------------------------------------------------------------------------------- */

static usec_t earlier(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

static usec_t attempt_due(const struct kube_attempt *a)
{
    const struct runtime *r = a->runtime;
    usec_t first = relay_link_due(&a->link);
    if (a->held)
        return kube_cluster_connected(r->cluster) && r->discovered
                   ? 0
                   : earlier(first, a->op->deadline);
    return a->op && !a->call ? earlier(first, a->at) : first;
}

static bool must_discover(const struct runtime *r)
{
    return !r->discovered && !r->discovery && kube_cluster_connected(r->cluster);
}

static usec_t due(const struct runtime *r)
{
    usec_t first = must_discover(r) ? 0 : USEC_NEVER;
    first = earlier(first, kube_api_due(r->api));
    first = earlier(first, kube_cluster_due(r->cluster));
    if (r->swept) /* so that no pod is told of before its attempt is known */
        first = earlier(first, kube_watch_due(r->pods));
    for (size_t i = 0; i < r->attempts.n; i++)
        first = earlier(first, attempt_due(r->attempts.at[i]));
    return first;
}

static void attempt_turn(struct kube_attempt *a, usec_t now)
{
    if (relay_link_due(&a->link) <= now)
        relay_link_turn(&a->link);
    if (a->held)
        pursue_held(a, now);
    else if (a->op && !a->call && a->at <= now)
        kube_operation_look(a, now);
}

static void turn(struct runtime *r, usec_t now)
{
    kube_api_turn(r->api, now);
    if (must_discover(r))
        kube_pods_discover(r);
    kube_cluster_turn(r->cluster, now);
    if (r->swept && kube_watch_due(r->pods) <= now)
        kube_watch_turn(r->pods, now);
    for (size_t i = 0; i < r->attempts.n; i++) {
        struct kube_attempt *a = r->attempts.at[i];
        attempt_turn(a, now);
        i -= i < r->attempts.n && r->attempts.at[i] != a; /* it was forgotten */
    }
}

/* ---- open and close ------------------------------------------------------------------------- */

static void kubernetes_close(struct runtime *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->attempts.n; i++)
        free_attempt(r->attempts.at[i]);
    VEC_DONE(&r->attempts);
    kube_watch_free(r->pods);
    kube_cluster_free(r->cluster);
    kube_api_free(r->api);
    curl_loop_close(r->curl);
    json_decref(r->template);
    arena_done(&r->arena);
    free(r);
}

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

static int load_template(struct runtime *r, struct err *err)
{
    struct str text = {0};
    char bytes[65536];
    const char *path = r->options.template;
    FILE *f = path ? fopen(path, "re") : NULL;
    if (path && !f)
        return err_set(err, ERR_IO, "pod template %s: %s", path, strerror(errno));
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        str_add_n(&text, bytes, n);
    if (f)
        fclose(f);
    int rc = path ? yaml_to_json(text.n ? text.at : "", text.n, &r->template, err) : 0;
    str_done(&text);
    if (rc == 0 && r->template && !json_is_object(r->template))
        rc = err_set(err, ERR_INVALID, "it is not an object");
    return rc < 0 ? err_prefix(err, "pod template %s", path) : 0;
}

static int configure(struct runtime *r, const struct kube_options *o, struct err *err)
{
    struct kube_places places;
    struct arena *a = &r->arena;
    r->options = (struct kube_options){.context = copy(a, o->context),
                                       .namespace = copy(a, o->namespace),
                                       .image = copy(a, o->image),
                                       .template = copy(a, o->template),
                                       .checkpoints = copy(a, o->checkpoints),
                                       .delegate = o->delegate};
    kube_places_find(a, &places);
    if (kube_config_read(&places, r->options.context, a, &r->config, err) < 0)
        return err_prefix(err, "kubernetes");
    if (r->options.namespace)
        r->config.namespace = r->options.namespace;
    return load_template(r, err);
}

static int kubernetes_open(struct runtime_host *h, const void *options, struct runtime **out,
                           struct err *err)
{
    char yard[RUNTIME_YARD_SIZE];
    if (runtime_yard_id(h, yard, err) < 0)
        return -1;
    struct runtime *r = xcalloc(1, sizeof *r);
    r->host = h;
    memcpy(r->yard, yard, sizeof r->yard);
    if (configure(r, options, err) < 0 || curl_loop_open(h->loop, &r->curl, err) < 0) {
        json_decref(r->template);
        arena_done(&r->arena);
        free(r);
        return -1;
    }
    r->api = kube_api_create(r->curl, h, &r->config);
    r->cluster = kube_cluster_create(r);
    kube_pods_follow(r);
    *out = r;
    return 0;
}

/* ---- what jobs see -----------------------------------------------------------------------------
 */

/* All of them are in our image. */
static const char *tool(const struct runtime *r, enum runtime_tool which)
{
    static const char *const paths[TOOL_COUNT] = {[TOOL_MALLEABLE] = POD_LIBRARY,
                                                  [TOOL_LINES] = POD_LINES,
                                                  [TOOL_TORCHRUN] = POD_TORCHRUN,
                                                  [TOOL_HOSTS] = POD_HOSTS};
    (void)r;
    return paths[which];
}

static char *files(const struct runtime *r, struct attempt_id id)
{
    (void)r;
    (void)id;
    return xstrdup(POD_ATTEMPT);
}

static const char *cpuset(const struct runtime *r, struct attempt_id id)
{
    const struct kube_attempt *a = kube_find(r, id);
    return a ? a->cpus.text : NULL;
}

const struct runtime_ops runtime_kubernetes = {
    .name = "kubernetes",
    .images = true,
    .leases = true,
    .discovers = true,
    .checkpoints = POD_CHECKPOINTS,
    .open = kubernetes_open,
    .close = kubernetes_close,
    .begin = begin,
    .adopt = adopt,
    .sweep = sweep,
    .send = relay_link_send,
    .unlink = relay_link_unlink,
    .fetch_log = kube_log_fetch,
    .tool = tool,
    .files = files,
    .cpuset = cpuset,
    .due = due,
    .turn = turn,
};
