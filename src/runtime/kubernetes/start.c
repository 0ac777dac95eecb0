/* Owns the start of an attempt: the pod, the secret with its specification, the binding to its
 * node, and the time until its job runs.
 *
 * Creating the pod is what can happen once only: a name that is taken means that the attempt was
 * started or is being started. */
#include "runtime/kubernetes/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kubernetes/cluster.h"
#include "runtime/kubernetes/operations.h"
#include "runtime/kubernetes/pod.h"

/* How long an image may be unobtainable, and a pod wait for anything. */
#define IMAGE_PATIENCE (2 * 60 * USEC_PER_SEC)
#define START_PATIENCE (15 * 60 * USEC_PER_SEC)
#define EVENTS_EVERY (10 * USEC_PER_SEC)
/* A start that takes no longer needs no explanation. */
#define QUIET (3 * USEC_PER_SEC)

struct kube_start {
    struct arena arena;
    struct launch_spec spec;
    struct runtime_container container;
    const char *script, *checkpoints;
    units_t cpus_least, cpus_most;
    usec_t since, image_since, events_at;
    char said[200]; /* what it waits for, as the server was told */
};

void kube_start_done(struct kube_start *s)
{
    if (!s)
        return;
    arena_done(&s->arena);
    free(s);
}

/* The attempt can never start, whatever is tried: its job fails with this reason. */
static void fault(struct kube_attempt *a, const struct err *err)
{
    snprintf(a->fault, sizeof a->fault, "%.*s", (int)sizeof a->fault - 1, err->text);
    kube_operation_complete(a, err);
}

static struct pod_request make_request(const struct kube_attempt *a)
{
    const struct runtime *r = a->runtime;
    const struct kube_start *s = a->start;
    bool own = !strcmp(s->checkpoints, POD_CHECKPOINTS);
    return (struct pod_request){.id = a->id,
                                .name = a->name,
                                .yard = r->yard,
                                .tools = r->options.image,
                                .template = r->template,
                                .container = &s->container,
                                .size = &a->op->size,
                                .cpus_least = s->cpus_least,
                                .cpus_most = s->cpus_most,
                                .resizes = r->resizes,
                                .delegate = r->options.delegate,
                                .gpu_resource = kube_cluster_gpu_resource(r->cluster, a->node),
                                .workdir = s->spec.workdir,
                                .checkpoints = own ? r->options.checkpoints : NULL,
                                .grace = s->spec.grace};
}

/* ---- waiting ------------------------------------------------------------------------------ */

static void say_waits(struct kube_attempt *a, const char *text)
{
    struct runtime_host *h = a->runtime->host;
    struct kube_start *s = a->start;
    if (!strcmp(s->said, text))
        return;
    snprintf(s->said, sizeof s->said, "%.199s", text);
    h->waits(h, a->id, *text ? s->said : NULL);
}

static const char *const image_reasons[] = {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull",
                                            "InvalidImageName", "RegistryUnavailable"};
/* Reasons that patience does not help against. */
static const char *const final_reasons[] = {"InvalidImageName", "ErrImageNeverPull",
                                            "CreateContainerConfigError", "InitFailed"};

static bool is_among(const char *text, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(text, list[i]))
            return true;
    return false;
}

/* Whether its image or its configuration will not come right by itself. */
static bool is_hopeless(const struct kube_attempt *a, usec_t now)
{
    struct kube_start *s = a->start;
    if (is_among(a->reason, final_reasons, COUNT_OF(final_reasons)))
        return true;
    if (is_among(a->reason, image_reasons, COUNT_OF(image_reasons)))
        s->image_since = s->image_since ? s->image_since : now;
    return s->image_since && now - s->image_since >= IMAGE_PATIENCE;
}

static void give_up(struct kube_attempt *a)
{
    struct err err;
    err_set(&err, ERR_NOT_FOUND, "the pod cannot start: %.40s: %.140s", a->reason, a->detail);
    fault(a, &err);
}

/* ---- events -------------------------------------------------------------------------------- */

/* The newest warning tells what keeps the pod, such as a volume that cannot be mounted. */
static void take_events(struct kube_attempt *a, const json_t *list)
{
    const json_t *e, *newest = NULL;
    size_t i;
    json_array_foreach(json_object_get(list, "items"), i, e)
    {
        newest = e;
    }
    const char *reason = json_string_value(json_object_get(newest, "reason"));
    const char *text = json_string_value(json_object_get(newest, "message"));
    if (!reason || !text)
        return;
    char shown[200];
    snprintf(shown, sizeof shown, "waiting for its pod: %.40s: %.130s", reason, text);
    say_waits(a, shown);
}

static void events_came(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) < 0)
        return; /* it may not be allowed to read them */
    json_auto_t *list = json_loadb(r->body, r->n, 0, NULL);
    take_events(a, list);
}

static void ask_events(struct kube_attempt *a, usec_t now)
{
    struct str path = {0};
    a->start->events_at = now + EVENTS_EVERY;
    str_addf(&path,
             "/api/v1/namespaces/%s/events?limit=50&fieldSelector="
             "involvedObject.uid%%3D%s%%2Ctype%%3DWarning",
             a->runtime->config.namespace, a->uid);
    kube_operation_ask_at(a, "GET", path.at, NULL, NULL, events_came);
    str_done(&path);
}

/* ---- until it runs -----------------------------------------------------------------------------
 */

static void describe_wait(struct kube_attempt *a, usec_t now)
{
    char text[200];
    bool image = is_among(a->reason, image_reasons, COUNT_OF(image_reasons));
    if (now - a->start->since < QUIET)
        return;
    if (image || !strcmp(a->reason, "Unschedulable"))
        snprintf(text, sizeof text, "waiting for its pod: %.40s: %.130s", a->reason, a->detail);
    else if (!*a->start->said)
        snprintf(text, sizeof text, "waiting for its pod to start on %.60s%s%.40s", a->node,
                 *a->reason ? ": " : "", a->reason);
    else
        snprintf(text, sizeof text, "%s", a->start->said);
    say_waits(a, text);
    if (!image && now >= a->start->events_at)
        ask_events(a, now);
}

static void complete_start(struct kube_attempt *a)
{
    say_waits(a, "");
    if (a->state == KUBE_RUNNING) {
        a->ran = true;
        relay_link_want(&a->link);
    }
    kube_operation_complete(a, NULL);
}

void kube_start_look(struct kube_attempt *a, usec_t now)
{
    const struct runtime *r = a->runtime;
    struct err err;
    if (!a->bound)
        return; /* a reply is on its way */
    if (a->known && (a->state == KUBE_RUNNING || a->state == KUBE_ENDED)) {
        complete_start(a);
    } else if (a->known && is_hopeless(a, now)) {
        say_waits(a, "");
        give_up(a);
    } else if (now - a->start->since >= START_PATIENCE ||
               (!kube_cluster_connected(r->cluster) && a->op->deadline <= now)) {
        say_waits(a, "");
        err_set(&err, ERR_UNREACHABLE, "the pod has not started: %.60s %.100s", a->reason,
                a->detail);
        kube_operation_complete(a, &err);
    } else {
        if (kube_cluster_connected(r->cluster)) /* it waits for good reasons */
            a->op->deadline = now + 60 * USEC_PER_SEC;
        describe_wait(a, now);
    }
}

/* ---- the steps --------------------------------------------------------------------------------
 */

static void begin_waiting(struct kube_attempt *a)
{
    a->bound = true;
    a->at = 0; /* the watch may have told already */
}

static void bound(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) < 0 && err.code != ERR_CONFLICT)
        kube_operation_complete(a, &err);
    else
        begin_waiting(a); /* a conflict: it is bound already */
}

static void bind_pod(struct kube_attempt *a)
{
    struct str body = {0};
    if (a->runtime->options.delegate) {
        begin_waiting(a);
        return;
    }
    pod_add_binding(a->name, a->uid, a->node, &body);
    kube_operation_ask(a, "POST", "/binding", NULL, body.at, bound);
    str_done(&body);
}

static void secret_created(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) == 0 || err.code == ERR_CONFLICT)
        bind_pod(a);
    else if (err.code == ERR_INVALID)
        fault(a, &err); /* such as a specification that is too large */
    else
        kube_operation_complete(a, &err);
}

static void create_secret(struct kube_attempt *a)
{
    struct pod_request q = make_request(a);
    struct str spec = {0}, body = {0}, path = {0};
    record_encode(&launch_spec_record, &a->start->spec, &spec);
    pod_add_secret(&q, a->uid, spec.at, a->start->script, &body);
    str_addf(&path, "/api/v1/namespaces/%s/secrets", a->runtime->config.namespace);
    kube_operation_ask_at(a, "POST", path.at, NULL, body.at, secret_created);
    str_done(&spec);
    str_done(&body);
    str_done(&path);
}

static void created(void *ctx, const struct call_reply *r);

/* The name is taken: by this very start, whose reply was lost, or by one that was given up. */
static void find_pod(struct kube_attempt *a)
{
    kube_operation_ask(a, "GET", "", NULL, NULL, created);
}

static void created(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct kube_pod p;
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) < 0) {
        if (err.code == ERR_CONFLICT)
            find_pod(a);
        else if (err.code == ERR_INVALID || (r->err.code == ERR_OK && r->status == 403))
            fault(a, &err); /* such as a quota, or a policy that forbids the pod */
        else
            kube_operation_complete(a, &err);
        return;
    }
    json_auto_t *pod = json_loadb(r->body, r->n, 0, NULL);
    if (!kube_pod_read(pod, &p) || p.void_ || p.deleting) {
        kube_operation_complete(a, NULL); /* given up; settling it tells */
        return;
    }
    snprintf(a->uid, sizeof a->uid, "%.63s", p.uid);
    create_secret(a);
}

/* What the server passes is valid during the call only. */
static struct kube_start *copy_start(const struct kube_attempt *attempt)
{
    const struct runtime_start *from = attempt->op->start;
    struct kube_start *s = xcalloc(1, sizeof *s);
    struct arena *a = &s->arena;
    record_copy(&launch_spec_record, from->spec, a, &s->spec);
    s->container = runtime_container_copy(from->container, a);
    s->script = from->script ? arena_strdup(a, from->script) : NULL;
    s->checkpoints = arena_strdup(a, from->checkpoints);
    s->cpus_least = from->cpus_min;
    s->cpus_most = from->cpus_max;
    s->since = kube_now(attempt->runtime);
    s->spec.socket = POD_SOCKET;
    s->spec.exit_copy = POD_END;
    s->spec.echo = s->spec.inherit = true;
    /* However late its node starts it: what was given up meanwhile gets no lease. */
    s->spec.await_lease = s->spec.lease != 0;
    s->spec.start_within = 0;
    s->spec.malleable.probe = s->spec.malleable.library != NULL;
    s->spec.cpuset = attempt->cpus.text ? arena_strdup(a, attempt->cpus.text) : NULL;
    if (!s->spec.workdir || !*s->spec.workdir)
        s->spec.workdir = "/proc/self/cwd"; /* the image's: there the conductor starts */
    return s;
}

static void create_pod(struct kube_attempt *a)
{
    struct pod_request q = make_request(a);
    struct str body = {0}, path = {0};
    if (!strcmp(q.workdir, "/proc/self/cwd"))
        q.workdir = NULL;
    kube_add_pod_path(a->runtime, "", "", &path);
    pod_add_create(&q, &body);
    kube_operation_ask_at(a, "POST", path.at, NULL, body.at, created);
    str_done(&body);
    str_done(&path);
}

void kube_start_pod(struct kube_attempt *a)
{
    struct err err;
    a->op->pid = 0;
    if (a->ran) {
        kube_operation_complete(a, NULL);
        return;
    }
    a->start = copy_start(a);
    if (a->start->spec.command[0]) {
        create_pod(a);
        return;
    }
    err_set(&err, ERR_INVALID,
            "on Kubernetes a job needs a command: that of the image %.80s is not known",
            a->start->container.image);
    fault(a, &err);
}
