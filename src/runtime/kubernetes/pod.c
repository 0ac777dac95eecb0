/* Owns the shape of our pods: an init container that brings our programs into an empty volume, and
 * the container of the job, with our conductor as its first process. The pod passes the
 * `restricted` security standard unless the job mounts a directory of its node. */
#include "runtime/kubernetes/pod.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "runtime/kubernetes/objects.h"

/* Time for the conductor to end, after that of the job. */
enum { GRACE_MORE = 30, USER = 1000, SECONDS_PER_USEC = 1000000 };

static json_t *text(const char *s)
{
    struct str valid = {0};
    str_add_utf8(&valid, s);
    json_t *v = json_string(valid.n ? valid.at : "");
    str_done(&valid);
    return v;
}

static void print(json_t *v, struct str *out)
{
    AUTO_FREE char *json = json_dumps(v, JSON_COMPACT);
    str_add(out, json);
    json_decref(v);
}

/* A copy of a part of the template, or an empty object. */
static json_t *from_template(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);
    return json_is_object(v) ? json_deep_copy(v) : json_object();
}

/* Sets what the template does not. */
static void set_default(json_t *o, const char *name, json_t *value)
{
    if (json_object_get(o, name))
        json_decref(value);
    else
        json_object_set_new(o, name, value);
}

static json_t *list_of(json_t *o, const char *name)
{
    json_t *list = json_object_get(o, name);
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(o, name, list);
    }
    return list;
}

/* ---- resources ------------------------------------------------------------------------ */

static json_t *cpu_amount(units_t n)
{
    return json_sprintf("%lldm", (long long)(n > 0 ? n : 1));
}

static void set_cpus(json_t *resources, units_t asked, units_t limit)
{
    json_object_set_new(json_object_get(resources, "requests"), "cpu", cpu_amount(asked));
    json_object_set_new(json_object_get(resources, "limits"), "cpu", cpu_amount(limit));
}

/* Where the size can be changed, it is what was granted. Elsewhere the pod asks for the least and
 * may use the most, and its conductor holds the job to what was granted. */
static json_t *resources_of(const struct pod_request *q)
{
    const struct runtime_size *s = q->size;
    json_t *v = json_pack("{s:{}, s:{}}", "requests", "limits");
    units_t least = q->cpus_least && q->cpus_least < s->cpus ? q->cpus_least : s->cpus;
    units_t most = q->cpus_most > s->cpu_limit ? q->cpus_most : s->cpu_limit;
    if (q->resizes)
        set_cpus(v, s->cpus, s->cpu_limit);
    else
        set_cpus(v, least, most);
    if (s->memory_mb) {
        json_t *memory = json_sprintf("%lldMi", (long long)s->memory_mb);
        json_object_set(json_object_get(v, "requests"), "memory", memory);
        json_object_set_new(json_object_get(v, "limits"), "memory", memory);
    }
    if (q->gpu_resource && s->gpus >= UNIT)
        json_object_set_new(json_object_get(v, "limits"), q->gpu_resource,
                            json_sprintf("%lld", (long long)(s->gpus / UNIT)));
    return v;
}

/* ---- volumes ---------------------------------------------------------------------------- */

/* "pvc/NAME", "configmap/NAME", "secret/NAME" or a path of the node. */
enum pod_source { POD_HOST_PATH, POD_CLAIM, POD_CONFIG_MAP, POD_SECRET };

struct mount {
    enum pod_source source;
    char *name; /* of the object, or the path */
    char *target;
    bool read_only;
};

static bool take_prefix(const char **p, const char *prefix)
{
    size_t n = strlen(prefix);
    if (strncmp(*p, prefix, n) != 0)
        return false;
    *p += n;
    return true;
}

/* SOURCE:TARGET[:ro|:rw], as it was checked when the job was submitted. */
static struct mount read_mount(const char *mount)
{
    struct mount m = {POD_HOST_PATH, NULL, NULL, false};
    if (take_prefix(&mount, "pvc/"))
        m.source = POD_CLAIM;
    else if (take_prefix(&mount, "configmap/"))
        m.source = POD_CONFIG_MAP;
    else if (take_prefix(&mount, "secret/"))
        m.source = POD_SECRET;
    const char *target = strchr(mount, ':') + 1, *mode = strchr(target, ':');
    m.name = xstrndup(mount, (size_t)(target - mount) - 1);
    m.target = mode ? xstrndup(target, (size_t)(mode - target)) : xstrdup(target);
    m.read_only = mode && !strcmp(mode, ":ro");
    return m;
}

static json_t *volume_source(const struct mount *m, json_t *volume)
{
    switch (m->source) {
    case POD_CLAIM:
        json_object_set_new(
            volume, "persistentVolumeClaim",
            json_pack("{s:o, s:b}", "claimName", text(m->name), "readOnly", m->read_only));
        break;
    case POD_CONFIG_MAP:
        json_object_set_new(volume, "configMap", json_pack("{s:o}", "name", text(m->name)));
        break;
    case POD_SECRET:
        json_object_set_new(volume, "secret", json_pack("{s:o}", "secretName", text(m->name)));
        break;
    case POD_HOST_PATH:
        json_object_set_new(volume, "hostPath", json_pack("{s:o}", "path", text(m->name)));
        break;
    }
    return volume;
}

static void add_mount(json_t *volumes, json_t *mounts, size_t i, const char *mount)
{
    struct mount m = read_mount(mount);
    char name[32];
    snprintf(name, sizeof name, "mount-%zu", i);
    json_array_append_new(volumes, volume_source(&m, json_pack("{s:s}", "name", name)));
    json_array_append_new(mounts, json_pack("{s:s, s:o, s:b}", "name", name, "mountPath",
                                            text(m.target), "readOnly", m.read_only));
    free(m.name);
    free(m.target);
}

static void add_volumes(const struct pod_request *q, json_t *volumes, json_t *mounts)
{
    json_array_append_new(volumes, json_pack("{s:s, s:{}}", "name", "trainyard", "emptyDir"));
    json_array_append_new(
        volumes, json_pack("{s:s, s:{s:s}}", "name", "input", "secret", "secretName", q->name));
    json_array_append_new(mounts,
                          json_pack("{s:s, s:s}", "name", "trainyard", "mountPath", POD_ROOT));
    if (q->checkpoints) {
        json_array_append_new(volumes,
                              json_pack("{s:s, s:{s:s}}", "name", "checkpoints",
                                        "persistentVolumeClaim", "claimName", q->checkpoints));
        json_array_append_new(mounts,
                              json_pack("{s:s, s:s, s:o}", "name", "checkpoints", "mountPath",
                                        POD_CHECKPOINTS, "subPath",
                                        json_sprintf("%s/%lld", q->yard, (long long)q->id.job)));
    }
    if (q->container->shm_mb) {
        json_array_append_new(volumes,
                              json_pack("{s:s, s:{s:s, s:o}}", "name", "shm", "emptyDir", "medium",
                                        "Memory", "sizeLimit",
                                        json_sprintf("%lldMi", (long long)q->container->shm_mb)));
        json_array_append_new(mounts,
                              json_pack("{s:s, s:s}", "name", "shm", "mountPath", "/dev/shm"));
    }
    for (size_t i = 0; q->container->mounts && q->container->mounts[i]; i++)
        add_mount(volumes, mounts, i, q->container->mounts[i]);
}

/* ---- containers --------------------------------------------------------------------------- */

static json_t *confined(void)
{
    return json_pack("{s:b, s:{s:[s]}}", "allowPrivilegeEscalation", 0, "capabilities", "drop",
                     "ALL");
}

static json_t *init_container(const struct pod_request *q)
{
    return json_pack("{s:s, s:s, s:s, s:[s,s,s,s], s:o, s:{s:{s:s, s:s}, s:{s:s, s:s}}, "
                     "s:[{s:s, s:s}, {s:s, s:s, s:b}]}",
                     "name", KUBE_INIT, "image", q->tools, "imagePullPolicy", "IfNotPresent",
                     "command", "/trainyard-conductor", "install", POD_ROOT, POD_INPUT,
                     "securityContext", confined(), "resources", "requests", "cpu", "1m", "memory",
                     "16Mi", "limits", "cpu", "1", "memory", "64Mi", "volumeMounts", "name",
                     "trainyard", "mountPath", POD_ROOT, "name", "input", "mountPath", POD_INPUT,
                     "readOnly", 1);
}

/* "UID[:GID]", as it was checked when the job was submitted. */
static void set_user(json_t *container, const char *run_as)
{
    char *end;
    json_t *s = json_object_get(container, "securityContext");
    json_object_set_new(s, "runAsUser", json_integer(strtoll(run_as, &end, 10)));
    if (*end == ':')
        json_object_set_new(s, "runAsGroup", json_integer(strtoll(end + 1, NULL, 10)));
}

/* Of the template's first container, all that we do not set ourselves stays. */
static json_t *job_container(const struct pod_request *q, const json_t *base, json_t *mounts)
{
    json_t *c = json_is_object(base) ? json_deep_copy(base) : json_object();
    json_object_set_new(c, "name", json_string(KUBE_CONTAINER));
    json_object_set_new(c, "image", text(q->container->image));
    set_default(c, "imagePullPolicy", json_string("IfNotPresent"));
    json_object_set_new(c, "command", json_pack("[s, s]", POD_CONDUCTOR, POD_ATTEMPT));
    json_object_set_new(c, "resources", resources_of(q));
    set_default(c, "securityContext", confined());
    if (q->container->run_as)
        set_user(c, q->container->run_as);
    json_object_set_new(c, "terminationMessagePath", json_string(POD_END));
    if (q->workdir)
        json_object_set_new(c, "workingDir", text(q->workdir));
    if (q->resizes)
        json_object_set_new(
            c, "resizePolicy",
            json_pack("[{s:s, s:s}]", "resourceName", "cpu", "restartPolicy", "NotRequired"));
    json_array_extend(list_of(c, "volumeMounts"), mounts);
    return c;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static json_t *metadata_of(const struct pod_request *q)
{
    json_t *m = from_template(q->template, "metadata"), *labels = json_object_get(m, "labels");
    if (!json_is_object(labels)) {
        labels = json_object();
        json_object_set_new(m, "labels", labels);
    }
    json_object_set_new(m, "name", json_string(q->name));
    json_object_set_new(m, "finalizers", json_pack("[s]", KUBE_FINALIZER));
    json_object_set_new(labels, KUBE_LABEL_YARD, json_string(q->yard));
    json_object_set_new(labels, KUBE_LABEL_JOB, json_sprintf("%lld", (long long)q->id.job));
    json_object_set_new(labels, KUBE_LABEL_ATTEMPT, json_sprintf("%u", q->id.n));
    if (q->id.part)
        json_object_set_new(labels, KUBE_LABEL_PART, json_sprintf("%u", q->id.part));
    json_object_set_new(labels, "app.kubernetes.io/name", json_string("trainyard-job"));
    json_object_set_new(labels, "app.kubernetes.io/instance", json_string(q->name));
    json_object_set_new(labels, "app.kubernetes.io/component", json_string("training"));
    json_object_set_new(labels, "app.kubernetes.io/part-of", json_string("trainyard"));
    json_object_set_new(labels, "app.kubernetes.io/managed-by", json_string("trainyard"));
    json_object_set_new(labels, "app.kubernetes.io/version", json_string(TRAINYARD_VERSION));
    return m;
}

static void set_security(json_t *spec)
{
    json_t *s = json_object_get(spec, "securityContext");
    if (!json_is_object(s)) {
        s = json_object();
        json_object_set_new(spec, "securityContext", s);
    }
    set_default(s, "runAsNonRoot", json_true());
    set_default(s, "runAsUser", json_integer(USER));
    set_default(s, "runAsGroup", json_integer(USER));
    set_default(s, "fsGroup", json_integer(USER));
    set_default(s, "seccompProfile", json_pack("{s:s}", "type", "RuntimeDefault"));
}

/* What happens to a node that is lost is decided by us: its job may still run. */
static void add_tolerations(json_t *spec)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready",
                                       "node.kubernetes.io/unreachable"};
    json_t *list = list_of(spec, "tolerations");
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key", keys[i], "operator",
                                              "Exists", "effect", "NoExecute"));
}

static json_t *pod_of(const struct pod_request *q, json_t *spec)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
                     metadata_of(q), "spec", spec);
}

void pod_add_create(const struct pod_request *q, struct str *out)
{
    json_t *spec = from_template(q->template, "spec");
    json_auto_t *mounts = json_array();
    add_volumes(q, list_of(spec, "volumes"), mounts);
    json_t *job = job_container(q, json_array_get(json_object_get(spec, "containers"), 0), mounts);
    json_object_set_new(spec, "containers", json_pack("[o]", job));
    json_array_insert_new(list_of(spec, "initContainers"), 0, init_container(q));
    json_object_set_new(spec, "restartPolicy", json_string("Never"));
    json_object_set_new(spec, "terminationGracePeriodSeconds",
                        json_integer(q->grace / SECONDS_PER_USEC + GRACE_MORE));
    set_default(spec, "automountServiceAccountToken", json_false());
    set_default(spec, "enableServiceLinks", json_false());
    if (q->container->host_network) { /* the default name service would be that of the node */
        json_object_set_new(spec, "hostNetwork", json_true());
        set_default(spec, "dnsPolicy", json_string("ClusterFirstWithHostNet"));
    }
    if (!q->delegate)
        json_object_set_new(spec, "schedulerName", json_string(POD_SCHEDULER));
    set_security(spec);
    add_tolerations(spec);
    print(pod_of(q, spec), out);
}

void pod_add_void(const struct pod_request *q, struct str *out)
{
    json_t *pod = pod_of(q, json_pack("{s:s, s:s, s:[{s:s, s:s}]}", "schedulerName",
                                      POD_SCHEDULER_NONE, "restartPolicy", "Never", "containers",
                                      "name", KUBE_CONTAINER, "image", q->tools));
    json_t *m = json_object_get(pod, "metadata");
    json_object_set_new(json_object_get(m, "labels"), KUBE_LABEL_VOID, json_string("true"));
    json_object_del(m, "finalizers");
    print(pod, out);
}

void pod_add_secret(const struct pod_request *q, const char *uid, const char *spec,
                    const char *script, struct str *out)
{
    json_t *data = json_pack("{s:o}", "spec.json", text(spec));
    if (script)
        json_object_set_new(data, "script", text(script));
    print(json_pack("{s:s, s:s, s:{s:s, s:{s:s}, s:[{s:s, s:s, s:s, s:s}]}, s:o}", "apiVersion",
                    "v1", "kind", "Secret", "metadata", "name", q->name, "labels", KUBE_LABEL_YARD,
                    q->yard, "ownerReferences", "apiVersion", "v1", "kind", "Pod", "name", q->name,
                    "uid", uid, "stringData", data),
          out);
}

void pod_add_binding(const char *name, const char *uid, const char *node, struct str *out)
{
    print(json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s}}", "apiVersion", "v1", "kind",
                    "Binding", "metadata", "name", name, "uid", uid, "target", "apiVersion", "v1",
                    "kind", "Node", "name", node),
          out);
}

void pod_add_resize(const struct runtime_size *s, struct str *out)
{
    json_t *resources = json_pack("{s:{}, s:{}}", "requests", "limits");
    set_cpus(resources, s->cpus, s->cpu_limit);
    print(json_pack("{s:{s:[{s:s, s:o}]}}", "spec", "containers", "name", KUBE_CONTAINER,
                    "resources", resources),
          out);
}

void pod_add_delete(const char *uid, const char *version, int grace_s, struct str *out)
{
    json_t *only = json_pack("{s:s}", "uid", uid);
    if (version)
        json_object_set_new(only, "resourceVersion", json_string(version));
    json_t *v = json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "DeleteOptions",
                          "preconditions", only);
    if (grace_s >= 0)
        json_object_set_new(v, "gracePeriodSeconds", json_integer(grace_s));
    print(v, out);
}
