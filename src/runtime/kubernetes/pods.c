/* Owns what is known of our pods from the watch, and removes those that nobody wants. */
#include "runtime/kubernetes/pods.h"

#include <stdio.h>
#include <string.h>

#include "runtime/kubernetes/operations.h"
#include "runtime/kubernetes/pod.h"

#define CALL_LIMIT (30 * USEC_PER_SEC)

/* ---- pods that nobody wants --------------------------------------------------------------- */

static void ignore(void *ctx, const struct call_reply *r)
{
    (void)ctx;
    (void)r;
}

/* An earlier server was asked to forget it, or it was created too late. Each report of the pod
 * brings its end closer: it is deleted, its node confirms, and we let it go. */
static void discard(struct runtime *r, const struct kube_pod *p)
{
    struct str path = {0}, body = {0};
    if (p->confirmed) {
        kube_operation_release(r, p->name);
        return;
    }
    if (p->deleting)
        return;
    kube_add_pod_path(r, p->name, "", &path);
    pod_add_delete(p->uid, NULL, 1, &body);
    struct kube_request q = {
        .method = "DELETE", .path = path.at, .body = body.at, .limit = CALL_LIMIT, .done = ignore};
    kube_ask(r->api, &q);
    str_done(&path);
    str_done(&body);
}

/* ---- news ------------------------------------------------------------------------------------ */

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%.*s", (int)size - 1, from);
}

static void note(struct kube_attempt *a, const struct kube_pod *p)
{
    a->known = true;
    a->confirmed = p->confirmed;
    a->state = p->state;
    a->ran |= p->started;
    a->cpus_in_force = p->cpus;
    copy_text(a->uid, sizeof a->uid, p->uid);
    copy_text(a->reason, sizeof a->reason, p->reason);
    copy_text(a->detail, sizeof a->detail, p->detail);
    copy_text(a->resize, sizeof a->resize, p->resize);
}

static void take_pod(void *ctx, const json_t *object, bool deleted)
{
    struct runtime *r = ctx;
    struct kube_pod p;
    if (!kube_pod_read(object, &p) || strcmp(p.yard, r->yard) != 0)
        return;
    struct kube_attempt *a = kube_find(r, p.id);
    if (!a || p.void_) {
        if (r->swept && !deleted && !p.void_)
            discard(r, &p);
        return;
    }
    note(a, &p);
    if (deleted) {
        a->known = false;
        a->state = KUBE_ENDED;
    }
    if (a->state == KUBE_RUNNING)
        relay_link_want(&a->link);
    else if (a->state == KUBE_ENDED)
        relay_link_drop(&a->link);
    if (a->op)
        a->at = 0;
}

static void lists(void *ctx)
{
    const struct runtime *r = ctx;
    for (size_t i = 0; i < r->attempts.n; i++)
        r->attempts.at[i]->known = false;
}

static void listed(void *ctx)
{
    const struct runtime *r = ctx;
    for (size_t i = 0; i < r->attempts.n; i++)
        if (r->attempts.at[i]->op)
            r->attempts.at[i]->at = 0;
}

/* The cluster's watches tell its trouble. */
static void failed(void *ctx, const struct err *why)
{
    (void)ctx;
    (void)why;
}

void kube_pods_follow(struct runtime *r)
{
    static const struct kube_watch_user user = {lists, take_pod, listed, failed};
    struct str path = {0}, query = {0};
    str_addf(&path, "/api/v1/namespaces/%s/pods", r->config.namespace);
    str_addf(&query, "labelSelector=trainyard.dev%%2Fyard%%3D%s", r->yard);
    r->pods = kube_watch_create(r->api, r->host, path.at, query.at, &user, r);
    str_done(&path);
    str_done(&query);
}

/* ---- discovery ----------------------------------------------------------------------------------
 */

static void discovered(void *ctx, const struct call_reply *reply)
{
    struct runtime *r = ctx;
    struct err err;
    const json_t *resource;
    size_t i;
    r->discovery = NULL;
    if (kube_check(reply, &err) < 0)
        return; /* asked again when the API server answers */
    json_auto_t *list = json_loadb(reply->body, reply->n, 0, NULL);
    r->discovered = true;
    json_array_foreach(json_object_get(list, "resources"), i, resource)
    {
        const char *name = json_string_value(json_object_get(resource, "name"));
        r->resizes |= name && !strcmp(name, "pods/resize");
    }
}

void kube_pods_discover(struct runtime *r)
{
    struct kube_request q = {
        .method = "GET", .path = "/api/v1", .limit = CALL_LIMIT, .done = discovered, .ctx = r};
    r->discovery = kube_ask(r->api, &q);
}
