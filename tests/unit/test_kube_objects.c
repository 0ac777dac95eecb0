/* Tests of what the API server says and is asked: nodes, pods, amounts, and the JSON of our pods.
 */
#include <jansson.h>
#include <math.h>

#include "runtime/kubernetes/affinity.h"
#include "runtime/kubernetes/objects.h"
#include "runtime/kubernetes/pod.h"
#include "runtime/kubernetes/quantity.h"
#include "support/test.h"

static json_t *parse(const char *text)
{
    json_t *v = json_loads(text, 0, NULL);
    assert_non_null(v);
    return v;
}

static void test_quantities(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},        {"250m", 0.25},
                {"1.5", 1.5},    {"2Gi", 2147483648.0},
                {"1Ki", 1024},   {"3k", 3000},
                {"12e3", 12000}, {"1E", 1e18},
                {"100n", 1e-7},  {"128974848", 128974848},
                {"5u", 5e-6},    {"1e-1", 0.1}};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        double got = -1;
        assert_true(quantity_parse(good[i].text, &got));
        assert_true(fabs(got - good[i].value) <= 1e-9 * fabs(good[i].value));
    }
    static const char *const bad[] = {"", "m", "1.2.3", "1mm", "1 Gi", "x", "1gi", "--1", "1e400"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        double got;
        assert_false(quantity_parse(bad[i], &got));
    }
}

#define NODE                                                                                       \
    "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"pool\":\"train\",\"nvidia.com/gpu.product\":"    \
    "\"A100-SXM4\"}},\"spec\":{%s},\"status\":{\"allocatable\":{\"cpu\":\"3900m\",\"memory\":"     \
    "\"2Gi\",\"nvidia.com/gpu\":\"4\"},\"capacity\":{\"cpu\":\"4\"},\"conditions\":[{\"type\":"    \
    "\"Ready\",\"status\":\"%s\",\"message\":\"kubelet stopped\"}]}}"

static bool read_node(const char *spec, const char *ready, const char *pod,
                      struct kube_node_info *out)
{
    char text[2048];
    snprintf(text, sizeof text, NODE, spec, ready); /* NOLINT: the format is a literal above */
    json_auto_t *node = parse(text), *template = parse(pod);
    bool fits = kube_node_read(node, template, out);
    assert_true(!out->name || strlen(out->name) < 10);
    return fits;
}

static void test_nodes(void **state)
{
    (void)state;
    struct kube_node_info n;
    assert_true(read_node("", "True", "{}", &n));
    assert_true(n.cpus == 3900 && n.memory_mb == 2048 && n.gpus == 4000 && n.processors == 4);
    assert_string_equal(n.gpu_type, "a100-sxm4");
    assert_string_equal(n.gpu_resource, "nvidia.com/gpu");
    assert_true(n.ready && !n.closed && !*n.notice);
    assert_true(read_node("", "Unknown", "{}", &n));
    assert_false(n.ready);
    assert_string_equal(n.notice, "not ready: kubelet stopped");
    assert_true(read_node("\"unschedulable\":true", "True", "{}", &n));
    assert_true(n.closed);
    assert_non_null(strstr(n.notice, "uncordon n1"));
    assert_true(read_node("", "True", "{\"nodeSelector\":{\"pool\":\"train\"}}", &n));
    assert_false(read_node("", "True", "{\"nodeSelector\":{\"pool\":\"web\"}}", &n));
    assert_false(read_node("", "True", "{\"nodeSelector\":{\"zone\":\"a\"}}", &n));
}

static void test_taints(void **state)
{
    (void)state;
    static const char taint[] =
        "\"taints\":[{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"NoSchedule\"}]";
    static const struct {
        const char *pod;
        bool open;
    } cases[] = {
        {"{}", false},
        {"{\"tolerations\":[{\"key\":\"gpu\",\"operator\":\"Exists\"}]}", true},
        {"{\"tolerations\":[{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"NoSchedule\"}]}", true},
        {"{\"tolerations\":[{\"key\":\"gpu\",\"value\":\"no\"}]}", false},
        {"{\"tolerations\":[{\"key\":\"gpu\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}]}",
         false},
        {"{\"tolerations\":[{\"operator\":\"Exists\"}]}", true},
    };
    struct kube_node_info n;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(read_node(taint, "True", cases[i].pod, &n));
        assert_int_equal(n.closed, !cases[i].open);
    }
    assert_true(read_node("\"taints\":[{\"key\":\"x\",\"effect\":\"PreferNoSchedule\"}]", "True",
                          "{}", &n));
    assert_false(n.closed);
}

static void test_use(void **state)
{
    (void)state;
    struct kube_use u;
    json_auto_t *pod = parse(
        "{\"spec\":{\"nodeName\":\"n1\",\"overhead\":{\"cpu\":\"10m\"},\"initContainers\":["
        "{\"resources\":{\"requests\":{\"cpu\":\"2\"}}},"
        "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}],"
        "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\","
        "\"nvidia.com/gpu\":\"1\"}}},{\"resources\":{}}]},\"status\":{\"phase\":\"Running\"}}");
    kube_use_read(pod, &u);
    assert_string_equal(u.node, "n1");
    assert_true(u.cpus == 2010 && u.memory_mb == 1024 && u.gpus == 1000);
    json_object_set_new(json_object_get(pod, "status"), "phase", json_string("Failed"));
    kube_use_read(pod, &u);
    assert_null(u.node);
    assert_true(u.cpus == 0);
}

#define POD(node, more, status)                                                                    \
    "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"labels\":{"           \
    "\"trainyard.dev/yard\":\"y\",\"trainyard.dev/job\":\"12\",\"trainyard.dev/"                   \
    "attempt\":\"3\"}" more "},\"spec\":{" node "},\"status\":{" status "}}"
#define ON_N1 "\"nodeName\":\"n1\""
#define CONTAINER(state) "\"containerStatuses\":[{\"name\":\"job\",\"state\":{" state "}}]"

static void test_pods(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum kube_pod_state state;
        bool started, confirmed, oom;
        const char *reason;
    } cases[] = {
        {POD("", "", "\"phase\":\"Pending\""), KUBE_UNBOUND, false, false, false, ""},
        {POD("", "",
             "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
             "\"False\",\"reason\":\"Unschedulable\",\"message\":\"no\"}]"),
         KUBE_UNBOUND, false, false, false, "Unschedulable"},
        {POD(ON_N1, "",
             "\"phase\":\"Pending\"," CONTAINER("\"waiting\":{\"reason\":\"ErrImagePull\"}")),
         KUBE_WAITING, false, false, false, "ErrImagePull"},
        {POD(ON_N1, "",
             "\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"tools\",\"state\":{"
             "\"terminated\":{\"exitCode\":1}}}]," CONTAINER(
                 "\"waiting\":{\"reason\":\"PodInitializing\"}")),
         KUBE_WAITING, false, false, false, "InitFailed"},
        {POD(ON_N1, "", "\"phase\":\"Running\"," CONTAINER("\"running\":{}")), KUBE_RUNNING, true,
         false, false, ""},
        {POD(ON_N1, "",
             "\"phase\":\"Failed\"," CONTAINER(
                 "\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\"}")),
         KUBE_ENDED, true, false, true, "OOMKilled"},
        {POD(ON_N1, "",
             "\"phase\":\"Failed\"," CONTAINER(
                 "\"terminated\":{\"exitCode\":128,\"reason\":\"ContainerCannotRun\"}")),
         KUBE_ENDED, false, false, false, "ContainerCannotRun"},
        {POD(ON_N1, "", "\"phase\":\"Failed\",\"reason\":\"Evicted\""), KUBE_ENDED, false, false,
         false, "Evicted"},
        {POD(ON_N1,
             ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",\"deletionGracePeriodSeconds\":30",
             "\"phase\":\"Running\"," CONTAINER("\"running\":{}")),
         KUBE_RUNNING, true, false, false, ""},
        {POD(ON_N1,
             ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",\"deletionGracePeriodSeconds\":0",
             "\"phase\":\"Pending\""),
         KUBE_WAITING, false, true, false, ""},
        {POD("", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "\"phase\":\"Pending\""),
         KUBE_UNBOUND, false, true, false, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_auto_t *pod = parse(cases[i].text);
        struct kube_pod p;
        assert_true(kube_pod_read(pod, &p));
        assert_true(p.id.job == 12 && p.id.n == 3);
        assert_int_equal(p.state, cases[i].state);
        assert_int_equal(p.started, cases[i].started);
        assert_int_equal(p.confirmed, cases[i].confirmed);
        assert_int_equal(p.oom, cases[i].oom);
        assert_string_equal(p.reason, cases[i].reason);
    }
    json_auto_t *other = parse("{\"metadata\":{\"name\":\"p\",\"labels\":{}}}");
    struct kube_pod p;
    assert_false(kube_pod_read(other, &p));
}

/* How a resize stands, before and since 1.33. */
static void test_resizes(void **state)
{
    (void)state;
    struct kube_pod p;
    json_auto_t *old = parse(POD(ON_N1, "", "\"resize\":\"Deferred\"")),
                *pending = parse(POD(
                    ON_N1, "",
                    "\"conditions\":[{\"type\":\"PodResizePending\",\"status\":\"True\",\"reason\":"
                    "\"Infeasible\",\"message\":\"too much\"}]"));
    json_auto_t *in_force = parse(
        POD(ON_N1, "",
            "\"containerStatuses\":[{\"name\":\"job\",\"state\":{\"running\":{}},\"resources\":{"
            "\"limits\":{\"cpu\":\"1500m\"}}}]"));
    assert_true(kube_pod_read(old, &p));
    assert_string_equal(p.resize, "Deferred");
    assert_true(kube_pod_read(pending, &p));
    assert_string_equal(p.resize, "Infeasible");
    assert_string_equal(p.detail, "too much");
    assert_true(kube_pod_read(in_force, &p));
    assert_true(fabs(p.cpus - 1.5) < 1e-9 && !*p.resize);
}

static void test_create(void **state)
{
    (void)state;
    static const char *const mounts[] = {"pvc/data:/data:ro", "secret/key:/key", "configmap/c:/c",
                                         "/host:/host", NULL};
    struct runtime_container container = {
        .image = "img:1", .mounts = (const char **)mounts, .shm_mb = 64, .run_as = "7:8"};
    struct runtime_size size = {
        .cpus = 1500, .cpu_limit = 2000, .cpu_weight = 1, .memory_mb = 512, .gpus = 2000};
    json_auto_t *template = parse("{\"metadata\":{\"annotations\":{\"a\":\"b\"}},\"spec\":{"
                                  "\"priorityClassName\":\"high\",\"imagePullSecrets\":[{\"name\":"
                                  "\"reg\"}],\"containers\":[{\"envFrom\":[]}]}}");
    struct pod_request q = {.id = {12, 3, 0},
                            .name = "trainyard-y-12-3",
                            .yard = "y",
                            .tools = "tools:1",
                            .template = template,
                            .container = &container,
                            .size = &size,
                            .cpus_least = 1000,
                            .cpus_most = 4000,
                            .gpu_resource = "nvidia.com/gpu",
                            .checkpoints = "ckpt",
                            .grace = 60 * USEC_PER_SEC};
    struct str s = {0};
    pod_add_create(&q, &s);
    json_auto_t *pod = parse(s.at);
    const json_t *spec = json_object_get(pod, "spec");
    const json_t *job = json_array_get(json_object_get(spec, "containers"), 0);
    const char *scheduler, *restart, *class, *cpu, *limit, *memory, *gpus;
    int root = -1, user = 0;
    json_int_t grace;
    assert_int_equal(json_unpack((json_t *)spec, "{s:s, s:s, s:s, s:I, s:{s:b, s:i}}",
                                 "schedulerName", &scheduler, "restartPolicy", &restart,
                                 "priorityClassName", &class, "terminationGracePeriodSeconds",
                                 &grace, "securityContext", "runAsNonRoot", &root, "runAsUser",
                                 &user),
                     0);
    assert_string_equal(scheduler, "trainyard");
    assert_string_equal(restart, "Never");
    assert_string_equal(class, "high");
    assert_true(grace == 90 && root == 1 && user == 1000);
    /* It cannot be resized: it asks for the least and may use the most. */
    assert_int_equal(json_unpack((json_t *)job, "{s:{s:{s:s}, s:{s:s, s:s, s:s}}}", "resources",
                                 "requests", "cpu", &cpu, "limits", "cpu", &limit, "memory",
                                 &memory, "nvidia.com/gpu", &gpus),
                     0);
    assert_string_equal(cpu, "1000m");
    assert_string_equal(limit, "4000m");
    assert_string_equal(memory, "512Mi");
    assert_string_equal(gpus, "2");
    assert_non_null(json_object_get(job, "envFrom"));
    assert_non_null(strstr(s.at, "\"runAsUser\":7,\"runAsGroup\":8"));
    assert_non_null(strstr(s.at, "\"finalizers\":[\"trainyard.dev/exit\"]"));
    assert_non_null(strstr(s.at, "\"persistentVolumeClaim\":{\"claimName\":\"data\",\"readOnly\":"
                                 "true}"));
    assert_non_null(strstr(s.at, "\"subPath\":\"y/12\""));
    assert_non_null(strstr(s.at, "\"hostPath\":{\"path\":\"/host\"}"));
    str_done(&s);
    q.resizes = q.delegate = true;
    pod_add_create(&q, &s);
    assert_non_null(strstr(s.at, "\"requests\":{\"cpu\":\"1500m\""));
    assert_non_null(strstr(s.at, "\"resizePolicy\""));
    assert_null(strstr(s.at, "schedulerName"));
    str_done(&s);
}

static void test_other_bodies(void **state)
{
    (void)state;
    struct str s = {0};
    struct runtime_size size = {.cpus = 500, .cpu_limit = 750};
    pod_add_resize(&size, &s);
    assert_string_equal(s.at, "{\"spec\":{\"containers\":[{\"name\":\"job\",\"resources\":{"
                              "\"requests\":{\"cpu\":\"500m\"},\"limits\":{\"cpu\":\"750m\"}}}]}}");
    s.n = 0;
    pod_add_delete("u", "7", -1, &s);
    assert_non_null(strstr(s.at, "\"preconditions\":{\"uid\":\"u\",\"resourceVersion\":\"7\"}"));
    assert_null(strstr(s.at, "gracePeriodSeconds"));
    s.n = 0;
    pod_add_binding("p", "u", "n1", &s);
    assert_non_null(strstr(s.at, "\"metadata\":{\"name\":\"p\",\"uid\":\"u\"}"));
    str_done(&s);
}

static void test_affinity(void **state)
{
    (void)state;
    struct affinity a = {0}, b = {0};
    uint16_t used[8] = {0};
    affinity_set(&a, 8, 3, used);
    assert_string_equal(a.text, "0-2");
    affinity_count(&a, 8, used);
    affinity_set(&b, 8, 4, used);
    assert_string_equal(b.text, "3-6");
    uint16_t of_b[8] = {0};
    affinity_count(&b, 8, of_b);
    affinity_set(&a, 8, 5, of_b); /* one is free, one is shared */
    assert_string_equal(a.text, "0-3,7");
    affinity_set(&a, 8, 3, of_b); /* the shared one goes first */
    assert_string_equal(a.text, "0-2");
    affinity_set(&a, 8, 100, of_b);
    assert_string_equal(a.text, "0-7");
    affinity_done(&a);
    affinity_done(&b);
}

static const struct CMUnitTest tests[] = {
    TEST(test_quantities), TEST(test_nodes),        TEST(test_taints),
    TEST(test_use),        TEST(test_pods),         TEST(test_resizes),
    TEST(test_create),     TEST(test_other_bodies), TEST(test_affinity)};

int main(void)
{
    return RUN(tests);
}
