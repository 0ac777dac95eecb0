/* Owns the reading of nodes and pods. */
#include "runtime/kubernetes/objects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/kubernetes/quantity.h"

static const char *text_of(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    return text ? text : "";
}

static units_t units_of(const json_t *o, const char *name)
{
    double n = quantity_get(o, name) * UNIT;
    return n > 0 && n < (double)UNITS_MAX ? (units_t)floor(n + 1e-6) : 0;
}

static int64_t mb_of(const json_t *o, const char *name)
{
    double n = quantity_get(o, name) / 1048576.0;
    return n > 0 && n < 9e15 ? (int64_t)n : 0;
}

/* ---- GPUs ------------------------------------------------------------------------------ */

/* Extended resources that are GPUs, and the labels that tell their type. */
static const struct {
    const char *resource;
    const char *labels[3];
    const char *type; /* if no label tells it */
} gpus[] = {
    {"nvidia.com/gpu",
     {"nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", NULL},
     "nvidia"},
    {"amd.com/gpu", {"amd.com/gpu.product-name", "amd.com/gpu.family", NULL}, "amd"},
    {"gpu.intel.com/i915", {"gpu.intel.com/product", NULL, NULL}, "intel"},
};

static void read_gpus(const json_t *node, struct kube_node_info *out)
{
    const json_t *has = json_object_get(json_object_get(node, "status"), "allocatable");
    const json_t *labels = json_object_get(json_object_get(node, "metadata"), "labels");
    for (size_t i = 0; i < COUNT_OF(gpus); i++) {
        units_t n = units_of(has, gpus[i].resource);
        if (!n)
            continue;
        const char *type = "";
        for (size_t k = 0; !*type && gpus[i].labels[k]; k++)
            type = text_of(labels, gpus[i].labels[k]);
        out->gpus = n;
        out->gpu_resource = gpus[i].resource;
        snprintf(out->gpu_type, sizeof out->gpu_type, "%.63s", *type ? type : gpus[i].type);
        for (char *p = out->gpu_type; *p; p++)
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        return;
    }
}

/* ---- nodes ----------------------------------------------------------------------------- */

static bool is_selected(const json_t *node, const json_t *selector)
{
    const json_t *labels = json_object_get(json_object_get(node, "metadata"), "labels"), *v;
    const char *key;
    json_object_foreach((json_t *)selector, key, v)
    {
        const json_t *has = json_object_get(labels, key);
        if (!has || !json_is_string(v) || strcmp(text_of(labels, key), json_string_value(v)) != 0)
            return false;
    }
    return true;
}

static bool tolerates(const json_t *t, const json_t *taint)
{
    const char *key = text_of(t, "key"), *effect = text_of(t, "effect");
    bool exists = !strcmp(text_of(t, "operator"), "Exists");
    if (*effect && strcmp(effect, text_of(taint, "effect")) != 0)
        return false;
    if (!*key)
        return exists;
    return !strcmp(key, text_of(taint, "key")) &&
           (exists || !strcmp(text_of(t, "value"), text_of(taint, "value")));
}

/* The taint that keeps our pods off; NULL = none. */
static const json_t *find_taint(const json_t *node, const json_t *tolerations)
{
    const json_t *taints = json_object_get(json_object_get(node, "spec"), "taints"), *taint, *t;
    size_t i, k;
    json_array_foreach(taints, i, taint)
    {
        bool fine = !strcmp(text_of(taint, "effect"), "PreferNoSchedule");
        /* Told by the node's condition, which we read ourselves. */
        fine |= !strcmp(text_of(taint, "key"), "node.kubernetes.io/unreachable") ||
                !strcmp(text_of(taint, "key"), "node.kubernetes.io/not-ready");
        json_array_foreach(tolerations, k, t)
        {
            fine |= tolerates(t, taint);
        }
        if (!fine)
            return taint;
    }
    return NULL;
}

static void read_ready(const json_t *node, struct kube_node_info *out)
{
    const json_t *all = json_object_get(json_object_get(node, "status"), "conditions"), *c;
    size_t i;
    json_array_foreach(all, i, c)
    {
        if (strcmp(text_of(c, "type"), "Ready") != 0)
            continue;
        out->ready = !strcmp(text_of(c, "status"), "True");
        if (!out->ready)
            snprintf(out->notice, sizeof out->notice, "not ready: %.150s", text_of(c, "message"));
    }
}

static void read_closed(const json_t *node, const json_t *pod, struct kube_node_info *out)
{
    const json_t *taint = find_taint(node, json_object_get(pod, "tolerations"));
    if (json_is_true(json_object_get(json_object_get(node, "spec"), "unschedulable"))) {
        out->closed = true;
        snprintf(out->notice, sizeof out->notice, "cordoned; `kubectl uncordon %.60s` opens it",
                 out->name);
    } else if (taint) {
        out->closed = true;
        snprintf(out->notice, sizeof out->notice, "its taint %.60s%s%.40s:%.20s is not tolerated",
                 text_of(taint, "key"), *text_of(taint, "value") ? "=" : "",
                 text_of(taint, "value"), text_of(taint, "effect"));
    }
}

bool kube_node_read(const json_t *node, const json_t *pod, struct kube_node_info *out)
{
    const json_t *status = json_object_get(node, "status");
    const json_t *has = json_object_get(status, "allocatable");
    memset(out, 0, sizeof *out); /* also between its members: it is compared as a whole */
    out->name = text_of(json_object_get(node, "metadata"), "name");
    if (!*out->name || !is_selected(node, json_object_get(pod, "nodeSelector")))
        return false;
    out->cpus = units_of(has, "cpu");
    out->memory_mb = mb_of(has, "memory");
    out->processors = units_of(json_object_get(status, "capacity"), "cpu") / UNIT;
    read_gpus(node, out);
    read_closed(node, pod, out);
    read_ready(node, out);
    return true;
}

/* ---- what pods use ------------------------------------------------------------------------ */

static void add_requests(const json_t *container, struct kube_use *sum)
{
    const json_t *asked = json_object_get(json_object_get(container, "resources"), "requests");
    sum->cpus += units_of(asked, "cpu");
    sum->memory_mb += mb_of(asked, "memory");
    for (size_t i = 0; i < COUNT_OF(gpus); i++)
        sum->gpus += units_of(asked, gpus[i].resource);
}

static void raise_to(struct kube_use *u, const struct kube_use *to)
{
    u->cpus = to->cpus > u->cpus ? to->cpus : u->cpus;
    u->gpus = to->gpus > u->gpus ? to->gpus : u->gpus;
    u->memory_mb = to->memory_mb > u->memory_mb ? to->memory_mb : u->memory_mb;
}

/* Init containers run one after the other before the rest, except those that go on. */
static void add_init(const json_t *spec, struct kube_use *out)
{
    struct kube_use going = {0}, most = {0};
    const json_t *c;
    size_t i;
    json_array_foreach(json_object_get(spec, "initContainers"), i, c)
    {
        struct kube_use one = going;
        add_requests(c, &one);
        raise_to(&most, &one);
        if (!strcmp(text_of(c, "restartPolicy"), "Always")) {
            going = one;
            add_requests(c, out);
        }
    }
    raise_to(out, &most);
}

void kube_use_read(const json_t *pod, struct kube_use *out)
{
    const json_t *spec = json_object_get(pod, "spec"), *c;
    const char *phase = text_of(json_object_get(pod, "status"), "phase");
    const char *node = text_of(spec, "nodeName");
    size_t i;
    *out = (struct kube_use){0};
    if (!*node || !strcmp(phase, "Succeeded") || !strcmp(phase, "Failed"))
        return;
    json_array_foreach(json_object_get(spec, "containers"), i, c)
    {
        add_requests(c, out);
    }
    add_init(spec, out);
    out->node = node;
    out->cpus += units_of(json_object_get(spec, "overhead"), "cpu");
    out->memory_mb += mb_of(json_object_get(spec, "overhead"), "memory");
}

/* ---- pods of ours --------------------------------------------------------------------------- */

static const json_t *find_named(const json_t *list, const char *name)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        if (!strcmp(text_of(v, "name"), name))
            return v;
    }
    return NULL;
}

static void read_job_container(const json_t *status, struct kube_pod *out)
{
    const json_t *c = find_named(json_object_get(status, "containerStatuses"), KUBE_CONTAINER);
    const json_t *state = json_object_get(c, "state");
    const json_t *ended = json_object_get(state, "terminated");
    const json_t *waits = json_object_get(state, "waiting");
    out->cpus = quantity_get(json_object_get(json_object_get(c, "resources"), "limits"), "cpu");
    if (json_object_get(state, "running")) {
        out->state = KUBE_RUNNING;
        out->started = true;
    } else if (ended) {
        const char *reason = text_of(ended, "reason");
        out->state = KUBE_ENDED;
        out->code = (int)json_integer_value(json_object_get(ended, "exitCode"));
        out->message = text_of(ended, "message");
        out->reason = reason;
        out->oom = !strcmp(reason, "OOMKilled");
        out->started =
            strcmp(reason, "ContainerCannotRun") != 0 && strcmp(reason, "StartError") != 0;
    } else if (waits && !*out->reason) {
        out->reason = text_of(waits, "reason");
        out->detail = text_of(waits, "message");
    }
}

/* Why an init container does not let the job start. */
static void read_init_container(const json_t *status, struct kube_pod *out)
{
    const json_t *c = find_named(json_object_get(status, "initContainerStatuses"), KUBE_INIT);
    const json_t *state = json_object_get(c, "state");
    const json_t *waits = json_object_get(state, "waiting");
    const json_t *ended = json_object_get(state, "terminated");
    if (waits) {
        out->reason = text_of(waits, "reason");
        out->detail = text_of(waits, "message");
    } else if (ended && json_integer_value(json_object_get(ended, "exitCode"))) {
        out->reason = "InitFailed";
        out->detail = text_of(ended, "message");
    }
}

/* Whether a condition holds that tells why it waits for a node, or for its new size. */
static void read_conditions(const json_t *status, struct kube_pod *out)
{
    const json_t *c;
    size_t i;
    out->resize = text_of(status, "resize"); /* before 1.33 */
    json_array_foreach(json_object_get(status, "conditions"), i, c)
    {
        const char *type = text_of(c, "type");
        bool holds = !strcmp(text_of(c, "status"), "True");
        if (!strcmp(type, "PodScheduled") && !holds && out->state == KUBE_UNBOUND) {
            out->reason = text_of(c, "reason");
            out->detail = text_of(c, "message");
        } else if (!strcmp(type, "PodResizePending") && holds) {
            out->resize = text_of(c, "reason");
            out->detail = text_of(c, "message");
        } else if (!strcmp(type, "PodResizeInProgress") && holds) {
            out->resize = "InProgress";
        }
    }
}

static void read_status(const json_t *pod, struct kube_pod *out)
{
    const json_t *status = json_object_get(pod, "status");
    const char *phase = text_of(status, "phase");
    bool over = !strcmp(phase, "Succeeded") || !strcmp(phase, "Failed");
    out->state = *out->node ? KUBE_WAITING : KUBE_UNBOUND;
    read_init_container(status, out);
    read_job_container(status, out);
    read_conditions(status, out);
    if (!over)
        return;
    out->state = KUBE_ENDED;
    if (*text_of(status, "reason")) { /* of the pod as a whole: evicted, node lost */
        out->reason = text_of(status, "reason");
        out->detail = text_of(status, "message");
    }
}

bool kube_pod_read(const json_t *pod, struct kube_pod *out)
{
    const json_t *m = json_object_get(pod, "metadata"), *labels = json_object_get(m, "labels");
    const char *job = text_of(labels, KUBE_LABEL_JOB), *n = text_of(labels, KUBE_LABEL_ATTEMPT);
    *out = (struct kube_pod){.name = text_of(m, "name"),
                             .uid = text_of(m, "uid"),
                             .version = text_of(m, "resourceVersion"),
                             .yard = text_of(labels, KUBE_LABEL_YARD),
                             .node = text_of(json_object_get(pod, "spec"), "nodeName"),
                             .message = "",
                             .reason = "",
                             .detail = "",
                             .resize = "",
                             .code = -1};
    if (!*job || !*n || !*out->yard || !*out->name)
        return false;
    out->id = (struct attempt_id){strtoll(job, NULL, 10), (uint32_t)strtoul(n, NULL, 10),
                                  (uint32_t)strtoul(text_of(labels, KUBE_LABEL_PART), NULL, 10)};
    out->void_ = json_object_get(labels, KUBE_LABEL_VOID) != NULL;
    out->deleting = json_is_string(json_object_get(m, "deletionTimestamp"));
    read_status(pod, out);
    const json_t *grace = json_object_get(m, "deletionGracePeriodSeconds");
    out->confirmed = out->deleting && ((grace && json_integer_value(grace) == 0) || !*out->node ||
                                       out->state == KUBE_ENDED);
    return true;
}
