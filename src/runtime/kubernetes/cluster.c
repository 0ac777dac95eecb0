/* Owns the nodes of the cluster and what is free on them.
 *
 * Nodes and pods are watched. A pod that is not ours takes what it asks for from its node; ours do
 * not, because the server keeps account of them. Whoever may not read the pods of all namespaces
 * sees nodes as if nobody else were there, and is told so.
 *
 * Whether the API server answers is asked every few seconds, because a watch on a dead connection
 * says nothing. */
#include "runtime/kubernetes/cluster.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "runtime/kubernetes/kubernetes.h"

#define PING_EVERY (10 * USEC_PER_SEC)
#define PING_LIMIT (8 * USEC_PER_SEC)
#define LOST_AFTER (25 * USEC_PER_SEC)

struct cluster_node {
    char *name;
    struct kube_node_info has; /* has.name is not used */
    units_t used_cpus, used_gpus;
    int64_t used_mb;
    bool there;   /* it is in the cluster, and selected */
    bool listed;  /* in the list that is being read */
    bool changed; /* not reported yet */
    bool known;   /* reported at all */
    bool silent;  /* reported as lost */
};

/* A pod of others that takes something from a node. */
struct foreign {
    char *key; /* its uid */
    uint32_t node;
    struct kube_use use; /* use.node is not used */
    bool listed;
};

struct kube_cluster {
    struct runtime *runtime;
    struct kube_watch *nodes, *pods;
    VEC(struct cluster_node) all;
    VEC(struct foreign) foreign;
    struct map by_name, by_uid; /* to indices in `all` and `foreign` */
    struct kube_call *ping;
    usec_t ping_at, heard;
    bool connected, lost, changed;
    bool complete; /* nodes and pods were listed: what is free is known */
    bool pods_listed, nodes_listed;
    bool blind; /* pods of other namespaces cannot be read */
    char trouble[200];
};

/* ---- reports ---------------------------------------------------------------------------- */

static units_t less(units_t a, units_t b)
{
    return a > b ? a - b : 0;
}

/* A connection through the API server to a machine that has gone shows no sign of it. So nobody is
 * talked to on a lost node, and everybody again when it is back. */
static void follow_links(const struct kube_cluster *c, const char *node, bool silent)
{
    const struct runtime *r = c->runtime;
    for (size_t i = 0; i < r->attempts.n; i++) {
        struct kube_attempt *a = r->attempts.at[i];
        if (strcmp(a->node, node) != 0)
            continue;
        if (silent)
            relay_link_drop(&a->link);
        else if (a->known && a->state == KUBE_RUNNING)
            relay_link_want(&a->link);
    }
}

static void report(struct kube_cluster *c, struct cluster_node *n)
{
    struct runtime_host *h = c->runtime->host;
    char notice[300] = "";
    const char *why = c->lost ? c->trouble : n->has.notice;
    if (c->blind && !*why)
        why = "pods of other namespaces cannot be read: what they use is not known";
    snprintf(notice, sizeof notice, "%s", why);
    units_t gpus = less(n->has.gpus, n->used_gpus);
    struct runtime_node node = {
        .name = n->name,
        .lost = c->lost || !n->has.ready,
        .gone = !n->there,
        .closed = n->has.closed,
        .cpus = less(n->has.cpus, n->used_cpus),
        .gpus = gpus,
        .gpu_type = gpus ? n->has.gpu_type : NULL,
        .memory_mb = n->has.memory_mb > n->used_mb ? n->has.memory_mb - n->used_mb : 1,
        .notice = *notice ? notice : NULL,
    };
    n->changed = false;
    if (!n->there && !n->known)
        return;
    n->known = true;
    if (node.lost != n->silent)
        follow_links(c, n->name, node.lost);
    n->silent = node.lost;
    h->node(h, c->runtime, &node);
}

static void touch(struct kube_cluster *c, uint32_t node)
{
    c->all.at[node].changed = true;
    c->changed = true;
}

static void touch_all(struct kube_cluster *c)
{
    for (uint32_t i = 0; i < c->all.n; i++)
        touch(c, i);
}

/* ---- nodes --------------------------------------------------------------------------------- */

static uint32_t node_at(struct kube_cluster *c, const char *name)
{
    uint32_t i = 0;
    if (map_get(&c->by_name, name, &i))
        return i;
    struct cluster_node n = {.name = xstrdup(name)};
    VEC_PUSH(&c->all, n);
    i = (uint32_t)c->all.n - 1;
    map_add(&c->by_name, c->all.at[i].name, i);
    return i;
}

static void list_nodes(void *ctx)
{
    struct kube_cluster *c = ctx;
    for (size_t i = 0; i < c->all.n; i++)
        c->all.at[i].listed = false;
}

static bool same_info(const struct kube_node_info *a, const struct kube_node_info *b)
{
    return a->cpus == b->cpus && a->memory_mb == b->memory_mb && a->gpus == b->gpus &&
           a->gpu_resource == b->gpu_resource && !strcmp(a->gpu_type, b->gpu_type) &&
           a->processors == b->processors && a->ready == b->ready && a->closed == b->closed &&
           !strcmp(a->notice, b->notice);
}

static void take_node(void *ctx, const json_t *object, bool deleted)
{
    struct kube_cluster *c = ctx;
    struct kube_node_info has;
    const json_t *template = json_object_get(c->runtime->template, "spec");
    bool fits = kube_node_read(object, template, &has);
    if (!*has.name)
        return;
    uint32_t i = node_at(c, has.name);
    struct cluster_node *n = &c->all.at[i];
    bool there = fits && !deleted;
    n->listed = true;
    has.name = NULL;
    if (there == n->there && (!there || same_info(&n->has, &has)))
        return; /* nodes are written every few seconds, to say that they live */
    n->there = there;
    if (there)
        n->has = has;
    touch(c, i);
}

static void check_complete(struct kube_cluster *c)
{
    if (!c->complete && c->nodes_listed && c->pods_listed) {
        c->complete = true;
        c->connected = true;
        c->lost = false;
        c->heard = kube_now(c->runtime);
        touch_all(c);
    }
}

static void listed_nodes(void *ctx)
{
    struct kube_cluster *c = ctx;
    for (uint32_t i = 0; i < c->all.n; i++) {
        struct cluster_node *n = &c->all.at[i];
        if (!n->listed && n->there) {
            n->there = false;
            touch(c, i);
        }
    }
    c->nodes_listed = true;
    check_complete(c);
}

/* ---- pods of others ----------------------------------------------------------------------------
 */

static void add_use(struct kube_cluster *c, const struct foreign *f, int sign)
{
    struct cluster_node *n = &c->all.at[f->node];
    n->used_cpus += sign * f->use.cpus;
    n->used_gpus += sign * f->use.gpus;
    n->used_mb += sign * f->use.memory_mb;
    touch(c, f->node);
}

static void set_use(struct kube_cluster *c, uint32_t at, const struct kube_use *use)
{
    struct foreign *f = &c->foreign.at[at];
    bool same =
        use->cpus == f->use.cpus && use->gpus == f->use.gpus && use->memory_mb == f->use.memory_mb;
    if (same)
        return;
    add_use(c, f, -1);
    f->use = *use;
    f->use.node = NULL;
    add_use(c, f, 1);
}

static void list_pods(void *ctx)
{
    struct kube_cluster *c = ctx;
    for (size_t i = 0; i < c->foreign.n; i++)
        c->foreign.at[i].listed = false;
}

static void take_pod(void *ctx, const json_t *object, bool deleted)
{
    struct kube_cluster *c = ctx;
    const char *uid =
        json_string_value(json_object_get(json_object_get(object, "metadata"), "uid"));
    struct kube_use use;
    struct kube_pod own;
    uint32_t at;
    if (!uid || (kube_pod_read(object, &own) && !strcmp(own.yard, c->runtime->yard)))
        return;
    kube_use_read(object, &use);
    if (deleted)
        use = (struct kube_use){0};
    if (!map_get(&c->by_uid, uid, &at)) {
        if (!use.node)
            return;
        struct foreign f = {.key = xstrdup(uid), .node = node_at(c, use.node)};
        VEC_PUSH(&c->foreign, f);
        at = (uint32_t)c->foreign.n - 1;
        map_add(&c->by_uid, c->foreign.at[at].key, at);
    }
    c->foreign.at[at].listed = true;
    set_use(c, at, &use);
}

/* Uids are never used again, so those of pods that are gone are forgotten with a new list. */
static void forget_old(struct kube_cluster *c)
{
    size_t kept = 0;
    map_done(&c->by_uid);
    c->by_uid = (struct map){0};
    for (size_t i = 0; i < c->foreign.n; i++) {
        struct foreign f = c->foreign.at[i];
        if (!f.listed) {
            free(f.key);
            continue;
        }
        c->foreign.at[kept] = f;
        map_add(&c->by_uid, f.key, (uint32_t)kept++);
    }
    c->foreign.n = kept;
}

static void listed_pods(void *ctx)
{
    struct kube_cluster *c = ctx;
    for (uint32_t i = 0; i < c->foreign.n; i++)
        if (!c->foreign.at[i].listed)
            set_use(c, i, &(struct kube_use){0});
    forget_old(c);
    c->blind = false;
    c->pods_listed = true;
    check_complete(c);
}

/* ---- trouble ------------------------------------------------------------------------------------
 */

static void take_trouble(struct kube_cluster *c, const struct err *why)
{
    bool lost = c->lost || kube_now(c->runtime) - c->heard >= LOST_AFTER;
    bool same = !strcmp(c->trouble, why->text);
    snprintf(c->trouble, sizeof c->trouble, "%.*s", (int)sizeof c->trouble - 1, why->text);
    if (lost != c->lost || !same) {
        c->lost = lost;
        touch_all(c);
    }
}

static void nodes_failed(void *ctx, const struct err *why)
{
    take_trouble(ctx, why);
}

static void pods_failed(void *ctx, const struct err *why)
{
    struct kube_cluster *c = ctx;
    if (why->code != ERR_DENIED) {
        take_trouble(c, why);
        return;
    }
    if (!c->blind)
        touch_all(c);
    c->blind = c->pods_listed = true;
    check_complete(c);
}

static void pinged(void *ctx, const struct call_reply *r)
{
    struct kube_cluster *c = ctx;
    struct err err;
    usec_t now = kube_now(c->runtime);
    c->ping = NULL;
    c->ping_at = now + PING_EVERY;
    if (kube_check(r, &err) < 0) {
        c->ping_at = now + USEC_PER_SEC;
        c->connected = false;
        take_trouble(c, &err);
        return;
    }
    bool was_away = !c->connected || now - c->heard > 2 * PING_EVERY;
    c->heard = now;
    c->connected = true;
    *c->trouble = '\0';
    if (was_away && c->complete) {
        kube_watch_renew(c->nodes);
        kube_watch_renew(c->pods);
        kube_watch_renew(c->runtime->pods);
    }
    if (c->lost && c->complete) {
        c->lost = false;
        touch_all(c);
    }
}

static void ping(struct kube_cluster *c)
{
    struct kube_request q = {
        .method = "GET", .path = "/version", .limit = PING_LIMIT, .done = pinged, .ctx = c};
    c->ping = kube_ask(c->runtime->api, &q);
}

/* ---- time
 * ---------------------------------------------------------------------------------------- */

static usec_t earlier(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

usec_t kube_cluster_due(const struct kube_cluster *c)
{
    if (c->changed && c->complete)
        return 0;
    return earlier(c->ping ? USEC_NEVER : c->ping_at,
                   earlier(kube_watch_due(c->nodes), kube_watch_due(c->pods)));
}

void kube_cluster_turn(struct kube_cluster *c, usec_t now)
{
    if (kube_watch_due(c->nodes) <= now)
        kube_watch_turn(c->nodes, now);
    if (kube_watch_due(c->pods) <= now)
        kube_watch_turn(c->pods, now);
    if (!c->ping && c->ping_at <= now)
        ping(c);
    if (!c->changed || !c->complete)
        return;
    c->changed = false;
    for (size_t i = 0; i < c->all.n; i++)
        if (c->all.at[i].changed)
            report(c, &c->all.at[i]);
}

/* ---- questions
 * ------------------------------------------------------------------------------------- */

static const struct cluster_node *find_node(const struct kube_cluster *c, const char *name)
{
    uint32_t i;
    return map_get(&c->by_name, name, &i) && c->all.at[i].there ? &c->all.at[i] : NULL;
}

bool kube_cluster_has(const struct kube_cluster *c, const char *node)
{
    return find_node(c, node) != NULL;
}

bool kube_cluster_connected(const struct kube_cluster *c)
{
    return c->connected;
}

const char *kube_cluster_trouble(const struct kube_cluster *c)
{
    return *c->trouble ? c->trouble : "the API server does not answer";
}

const char *kube_cluster_gpu_resource(const struct kube_cluster *c, const char *node)
{
    const struct cluster_node *n = find_node(c, node);
    return n ? n->has.gpu_resource : NULL;
}

int kube_cluster_processors(const struct kube_cluster *c, const char *node)
{
    const struct cluster_node *n = find_node(c, node);
    return n ? (int)n->has.processors : 0;
}

/* ---- life
 * ---------------------------------------------------------------------------------------- */

struct kube_cluster *kube_cluster_create(struct runtime *r)
{
    static const struct kube_watch_user nodes = {list_nodes, take_node, listed_nodes, nodes_failed};
    static const struct kube_watch_user pods = {list_pods, take_pod, listed_pods, pods_failed};
    struct kube_cluster *c = xcalloc(1, sizeof *c);
    c->runtime = r;
    c->heard = kube_now(r);
    c->lost = true;
    c->nodes = kube_watch_create(r->api, r->host, "/api/v1/nodes", "", &nodes, c);
    c->pods = kube_watch_create(
        r->api, r->host, "/api/v1/pods",
        "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed", &pods, c);
    return c;
}

void kube_cluster_free(struct kube_cluster *c)
{
    if (!c)
        return;
    kube_watch_free(c->nodes);
    kube_watch_free(c->pods);
    kube_cancel(c->ping);
    for (size_t i = 0; i < c->all.n; i++)
        free(c->all.at[i].name);
    for (size_t i = 0; i < c->foreign.n; i++)
        free(c->foreign.at[i].key);
    VEC_DONE(&c->all);
    VEC_DONE(&c->foreign);
    map_done(&c->by_name);
    map_done(&c->by_uid);
    free(c);
}
