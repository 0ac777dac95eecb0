/* Owns the course of operations: each is a chain of requests within the operation's deadline.
 * Resizing, freezing and cleaning up are done here. */
#include "runtime/kubernetes/operations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/kubernetes/cluster.h"
#include "runtime/kubernetes/pod.h"
#include "runtime/kubernetes/settle.h"
#include "runtime/kubernetes/start.h"

#define CALL_LIMIT (30 * USEC_PER_SEC)
/* The watch tells at once; this is for what it might have missed. */
#define LOOK_EVERY (2 * USEC_PER_SEC)
/* A second is enough: nobody wants the job any more. */
#define DELETE_SOON "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":1}"
#define MERGE_PATCH "application/merge-patch+json"
#define STRATEGIC_PATCH "application/strategic-merge-patch+json"

/* ---- requests ------------------------------------------------------------------------- */

void kube_operation_complete(struct kube_attempt *a, const struct err *err)
{
    struct runtime_op *op = a->op;
    kube_start_done(a->start);
    a->start = NULL;
    a->op = NULL;
    a->at = USEC_NEVER;
    kube_cancel(a->call);
    a->call = NULL;
    op->err = (struct err){.code = ERR_OK};
    if (err && err->code != ERR_OK) {
        op->err = *err;
        err_prefix(&op->err, "%s", a->node);
    }
    runtime_complete(a->runtime->host, op);
}

void kube_operation_ask_at(struct kube_attempt *a, const char *method, const char *path,
                           const char *type, const char *body, kube_done_fn done)
{
    usec_t left = a->op->deadline - kube_now(a->runtime);
    struct err err;
    if (left <= 0) {
        err_set(&err, ERR_UNREACHABLE, "the API server does not answer in time");
        kube_operation_complete(a, &err);
        return;
    }
    struct kube_request q = {.method = method,
                             .path = path,
                             .type = type,
                             .body = body,
                             .limit = left < CALL_LIMIT ? left : CALL_LIMIT,
                             .done = done,
                             .ctx = a};
    a->call = kube_ask(a->runtime->api, &q);
}

void kube_operation_ask(struct kube_attempt *a, const char *method, const char *rest,
                        const char *type, const char *body, kube_done_fn done)
{
    struct str path = {0};
    kube_add_pod_path(a->runtime, a->name, rest, &path);
    kube_operation_ask_at(a, method, path.at, type, body, done);
    str_done(&path);
}

bool kube_operation_succeeded(struct kube_attempt *a, const struct call_reply *r)
{
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) == 0)
        return true;
    kube_operation_complete(a, &err);
    return false;
}

bool kube_operation_is_orphan(const struct kube_attempt *a, const struct kube_pod *p)
{
    return p->deleting && *p->node && kube_cluster_connected(a->runtime->cluster) &&
           !kube_cluster_has(a->runtime->cluster, p->node);
}

/* ---- size ------------------------------------------------------------------------------ */

/* Where pods cannot be resized, the conductor holds the job to its CPUs. */
static void choose_cpus(struct kube_attempt *a, units_t granted)
{
    const struct runtime *r = a->runtime;
    int processors = kube_cluster_processors(r->cluster, a->node);
    uint16_t used[AFFINITY_MAX] = {0};
    if (!processors || r->resizes)
        return;
    for (size_t i = 0; i < r->attempts.n; i++) {
        const struct kube_attempt *other = r->attempts.at[i];
        if (other != a && !strcmp(other->node, a->node))
            affinity_count(&other->cpus, processors, used);
    }
    affinity_set(&a->cpus, processors, (int)((granted + UNIT - 1) / UNIT), used);
}

static bool is_in_force(const struct kube_attempt *a)
{
    return fabs(a->cpus_in_force * UNIT - (double)a->op->size.cpu_limit) < 1;
}

static void look_at_resize(struct kube_attempt *a, usec_t now)
{
    struct err err;
    if (a->state == KUBE_ENDED || !a->known) {
        err_set(&err, ERR_NOT_FOUND, "the pod has ended");
        kube_operation_complete(a, &err);
    } else if (is_in_force(a) && !*a->resize) {
        kube_operation_complete(a, NULL);
    } else if (!strcmp(a->resize, "Infeasible") || a->op->deadline <= now) {
        err_set(&err, ERR_LIMIT, "the resize is %s: %.150s",
                *a->resize ? a->resize : "not in force", a->detail);
        kube_operation_complete(a, &err);
    }
}

static void resized(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    if (kube_operation_succeeded(a, r))
        a->at = kube_now(a->runtime) + LOOK_EVERY; /* its node does the rest */
}

static void resize(struct kube_attempt *a)
{
    struct str body = {0};
    choose_cpus(a, a->op->size.cpus);
    if (!a->runtime->resizes) {
        kube_operation_complete(a, NULL);
        return;
    }
    pod_add_resize(&a->op->size, &body);
    kube_operation_ask(a, "PATCH", "/resize", STRATEGIC_PATCH, body.at, resized);
    str_done(&body);
}

/* ---- freezing ------------------------------------------------------------------------------ */

/* The conductor stops the job's processes; the API has nothing for it. */
static void freeze(struct kube_attempt *a)
{
    struct to_conductor m = {.kind = a->op->frozen ? TO_CONDUCTOR_FREEZE : TO_CONDUCTOR_THAW,
                             .id = -1};
    struct err err;
    if (relay_link_say(&a->link, &m)) {
        kube_operation_complete(a, NULL);
        return;
    }
    bool over = a->state == KUBE_ENDED || (!a->known && a->ran);
    err_set(&err, over ? ERR_NOT_FOUND : ERR_UNREACHABLE, "there is no link to the conductor");
    kube_operation_complete(a, &err);
}

/* ---- killing --------------------------------------------------------------------------------- */

/* The reply is the pod, or says that it is gone. Our finaliser keeps its record. */
static void kill_replied(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct kube_pod p;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 404) {
        kube_operation_complete(a, NULL);
        return;
    }
    if (!kube_operation_succeeded(a, r))
        return;
    json_auto_t *pod = json_loadb(r->body, r->n, 0, NULL);
    if (!kube_pod_read(pod, &p) || p.confirmed || p.state == KUBE_ENDED ||
        kube_operation_is_orphan(a, &p))
        kube_operation_complete(a, NULL);
    else
        a->at = kube_now(a->runtime) + LOOK_EVERY;
}

static void kill_pod(struct kube_attempt *a)
{
    kube_operation_ask(a, "DELETE", "", NULL, DELETE_SOON, kill_replied);
}

static void look_at_kill(struct kube_attempt *a, usec_t now)
{
    if (a->confirmed || !a->known || a->at <= now)
        kube_operation_ask(a, "GET", "", NULL, NULL, kill_replied);
}

/* ---- cleaning up ----------------------------------------------------------------------------- */

static void ignore(void *ctx, const struct call_reply *r)
{
    (void)ctx;
    (void)r;
}

void kube_operation_release(struct runtime *r, const char *pod)
{
    struct str path = {0};
    kube_add_pod_path(r, pod, "", &path);
    struct kube_request q = {.method = "PATCH",
                             .path = path.at,
                             .type = MERGE_PATCH,
                             .body = "{\"metadata\":{\"finalizers\":null}}",
                             .limit = CALL_LIMIT,
                             .done = ignore};
    kube_ask(r->api, &q);
    str_done(&path);
}

static void cleaned(struct kube_attempt *a)
{
    relay_link_drop(&a->link);
    kube_operation_complete(a, NULL);
    kube_forget(a);
}

static void released(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) < 0 && err.code != ERR_NOT_FOUND)
        kube_operation_complete(a, &err);
    else
        cleaned(a);
}

static void clean_pod(struct kube_attempt *a, const struct kube_pod *p)
{
    if (p->confirmed || kube_operation_is_orphan(a, p))
        kube_operation_ask(a, "PATCH", "", MERGE_PATCH, "{\"metadata\":{\"finalizers\":null}}",
                           released);
    else
        a->at = kube_now(a->runtime) + LOOK_EVERY;
}

/* The reply is the pod, or says that it is gone. */
static void clean_replied(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct kube_pod p;
    struct err err;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 404) {
        cleaned(a);
        return;
    }
    if (kube_check(r, &err) < 0) {
        kube_operation_complete(a, &err);
        return;
    }
    json_auto_t *pod = json_loadb(r->body, r->n, 0, NULL);
    if (kube_pod_read(pod, &p))
        clean_pod(a, &p);
    else
        cleaned(a); /* a status: it went at once */
}

/* Its end is recorded, so the conductor may leave: otherwise a pod that somebody has deleted with a
 * long grace period lasts that long. The node says when nothing of it runs any more. */
static void clean(struct kube_attempt *a)
{
    struct to_conductor ack = {.kind = TO_CONDUCTOR_ACK, .id = -1, .ack = {.what = ACK_EXIT}};
    (void)relay_link_say(&a->link, &ack);
    kube_operation_ask(a, "DELETE", "", NULL, DELETE_SOON, clean_replied);
}

static void look_at_clean(struct kube_attempt *a, usec_t now)
{
    struct err err;
    if (a->op->deadline <= now) {
        err_set(&err, ERR_UNREACHABLE, "its node has not ended the pod yet");
        kube_operation_complete(a, &err);
        return;
    }
    if (!a->call && (a->confirmed || !a->known || a->at <= now))
        kube_operation_ask(a, "GET", "", NULL, NULL, clean_replied);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

void kube_operation_look(struct kube_attempt *a, usec_t now)
{
    if (!a->op || a->call)
        return;
    switch (a->op->kind) {
    case OP_START:
        kube_start_look(a, now);
        break;
    case OP_RESIZE:
        look_at_resize(a, now);
        break;
    case OP_CLEAN:
        look_at_clean(a, now);
        break;
    case OP_SETTLE:
        kube_settle_look(a, now);
        break;
    case OP_KILL:
        look_at_kill(a, now);
        break;
    case OP_FREEZE:
        break;
    }
    if (a->op && !a->call && a->at <= now)
        a->at = now + LOOK_EVERY;
}

void kube_operation_begin(struct kube_attempt *a)
{
    a->at = USEC_NEVER;
    switch (a->op->kind) {
    case OP_START:
        choose_cpus(a, a->op->size.cpus);
        kube_start_pod(a);
        break;
    case OP_SETTLE:
        kube_settle_pod(a);
        break;
    case OP_RESIZE:
        resize(a);
        break;
    case OP_FREEZE:
        freeze(a);
        break;
    case OP_KILL:
        kill_pod(a);
        break;
    case OP_CLEAN:
        clean(a);
        break;
    }
}
