/* GPUs, with a stand-in for NVIDIA's library that the test compiles: this code runs
 * against the same functions on machines without GPUs. */
#include <dlfcn.h>
#include <unistd.h>

#include "runtime/local/gpu.h"
#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

/* NVML_COUNT GPUs; those from NVML_OTHER on are of another model; NVML_BROKEN fails. */
static const char source[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "static int env(const char *n) { const char *v = getenv(n); return v ? atoi(v) : 1000; }\n"
    "int nvmlInit_v2(void) { return getenv(\"NVML_NO_DRIVER\") ? 9 : 0; }\n"
    "int nvmlShutdown(void) { return 0; }\n"
    "int nvmlDeviceGetCount_v2(unsigned *n) { *n = env(\"NVML_COUNT\"); return 0; }\n"
    "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d)\n"
    "{ *d = (void *)(size_t)(i + 1); return i == env(\"NVML_BROKEN\") ? 15 : 0; }\n"
    "int nvmlDeviceGetUUID(void *d, char *t, unsigned n)\n"
    "{ snprintf(t, n, \"GPU-%d\", (int)(size_t)d); return 0; }\n"
    "int nvmlDeviceGetName(void *d, char *t, unsigned n)\n"
    "{ snprintf(t, n, (int)(size_t)d > env(\"NVML_OTHER\") ? \"Old\" : \"New\"); return 0; }\n"
    "int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m)\n"
    "{ (void)d; m[0] = 16ULL << 30; m[1] = m[0]; m[2] = 0; return 0; }\n";

static char library[64];

static int build_library(void **state)
{
    (void)state;
    char dir[] = "/tmp/trainyard-unit.XXXXXX", command[256];
    if (!mkdtemp(dir))
        return -1;
    snprintf(library, sizeof library, "%s/libnvidia-ml.so.1", dir);
    const char *cc = getenv("CC");
    snprintf(command, sizeof command,
             "%s -w -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -x c -o %s -",
             cc && *cc ? cc : "cc", library);
    FILE *pipe = popen(command, "w");
    return !pipe || fputs(source, pipe) < 0 || pclose(pipe) ? -1 : 0;
}

static int remove_library(void **state)
{
    (void)state;
    unlink(library);
    *strrchr(library, '/') = 0;
    return rmdir(library);
}

static struct gpus find(const char *count)
{
    struct gpus g;
    struct err err;
    setenv("NVML_COUNT", count, 1);
    assert_ok(gpus_find(&g, library, &err), err);
    return g;
}

static void test_inventory(void **state)
{
    (void)state;
    struct gpus g = find("2");
    assert_int_equal(g.gpu.n, 2);
    assert_string_equal(g.gpu.at[1].uuid, "GPU-2");
    assert_string_equal(g.gpu.at[1].model, "New");
    assert_int_equal(g.gpu.at[1].memory_mb, 16384);
    assert_int_equal(g.gpu.at[1].index, 1);
    assert_int_equal(g.left_out.n, 0);
    gpus_done(&g);
}

static void test_no_library_is_no_gpu(void **state)
{
    (void)state;
    struct gpus g;
    struct err err;
    assert_ok(gpus_find(&g, "/nowhere/libnvidia-ml.so.1", &err), err);
    assert_int_equal(g.gpu.n, 0);
}

static void test_no_driver_is_an_error(void **state)
{
    (void)state;
    struct gpus g;
    struct err err;
    setenv("NVML_COUNT", "2", 1);
    setenv("NVML_NO_DRIVER", "1", 1);
    assert_error(gpus_find(&g, library, &err), err, ERR_IO, "the driver is not loaded");
    unsetenv("NVML_NO_DRIVER");
}

static void test_grants_move_to_a_new_list(void **state)
{
    (void)state;
    struct gpus two = find("2"), one = find("1");
    struct gpus_grant grant = {0};
    gpus_give(&two, &grant, 2 * UNIT);
    gpus_move(&grant, &two, &one);
    assert_int_equal(grant.share.n, 1);
    assert_int_equal(one.gpu.at[0].load, UNIT);
    gpus_take(&one, &grant);
    gpus_done(&one);
    gpus_done(&two);
}

static void test_a_failing_or_wrong_library_is_an_error(void **state)
{
    (void)state;
    struct gpus g;
    struct err err;
    setenv("NVML_COUNT", "2", 1);
    setenv("NVML_BROKEN", "1", 1);
    assert_error(gpus_find(&g, library, &err), err, ERR_IO, "GPU 1");
    unsetenv("NVML_BROKEN");
    assert_error(gpus_find(&g, "libm.so.6", &err), err, ERR_IO, "nvmlInit_v2");
}

static void test_one_model_is_used(void **state)
{
    (void)state;
    setenv("NVML_OTHER", "1", 1);
    struct gpus g = find("3");
    unsetenv("NVML_OTHER");
    assert_int_equal(g.gpu.n, 2);
    assert_string_equal(g.gpu.at[0].uuid, "GPU-2");
    assert_non_null(strstr(g.left_out.at, "GPU 0 (New) is not used"));
    gpus_done(&g);
}

static void assert_has(const struct gpus *g, const struct gpus_grant *grant, const char *expected)
{
    struct str text = {0};
    str_add(&text, "");
    for (size_t i = 0; i < grant->share.n; i++)
        str_addf(&text, "%s%u", i ? "," : "", g->gpu.at[grant->share.at[i].gpu].index);
    assert_string_equal(text.at, expected);
    str_done(&text);
}

static void test_whole_gpus_are_given_alone_and_parts_together(void **state)
{
    (void)state;
    struct gpus g = find("4");
    struct gpus_grant a = {0}, b = {0}, c = {0}, d = {0};
    gpus_give(&g, &a, 2000);
    assert_has(&g, &a, "0,1");
    gpus_give(&g, &b, 500);
    assert_has(&g, &b, "2");
    gpus_give(&g, &c, 500);
    assert_has(&g, &c, "2");
    gpus_give(&g, &d, 1000);
    assert_has(&g, &d, "3");
    gpus_give(&g, &a, 2000);
    assert_has(&g, &a, "0,1");
    gpus_give(&g, &a, 1000);
    assert_has(&g, &a, "0");
    gpus_give(&g, &a, 0);
    assert_has(&g, &a, "");
    gpus_take(&g, &b);
    gpus_take(&g, &c);
    gpus_take(&g, &d);
    for (size_t i = 0; i < g.gpu.n; i++)
        assert_int_equal(g.gpu.at[i].load, 0);
    gpus_done(&g);
}

static void test_a_claim_is_kept(void **state)
{
    (void)state;
    struct gpus g = find("3");
    struct gpus_grant a = {0}, b = {0};
    gpus_claim(&g, &a, "GPU-2");
    gpus_claim(&g, &a, "GPU-of-another-day");
    gpus_give(&g, &a, 1000);
    assert_has(&g, &a, "1");
    gpus_give(&g, &b, 2000);
    assert_has(&g, &b, "0,2");
    gpus_take(&g, &a);
    gpus_take(&g, &b);
    gpus_done(&g);
}

/* Starts the attempt; its conductor and its job are told of these GPUs. */
static void start(struct host *h, const struct host_attempt *a, const char *expected)
{
    struct host_launch l;
    struct str uuids = {0};
    struct err err;
    struct runtime_op op = host_op(h, OP_START, a);
    host_launch(h, a, "sleep", &l);
    op.start = &l.start;
    assert_ok(host_do(h, &op, &err), err);
    host_until(host_pid(h, a) > 0);
    for (size_t i = 0; l.spec.gpus[i]; i++)
        str_addf(&uuids, "%s%s", i ? "," : "", l.spec.gpus[i]);
    assert_string_equal(uuids.at, expected);
    assert_string_equal(launch_spec_get(&l.spec, "CUDA_VISIBLE_DEVICES"), expected);
    str_done(&uuids);
    arena_done(&l.arena);
}

/* Through the whole runtime: the library is loaded already, so that it is found by its
 * name. A second server knows from spec.json which GPUs are in use. */
static void test_jobs_get_gpus_by_uuid(void **state)
{
    (void)state;
    struct host h;
    struct host_attempt a = host_attempt(1, 10), b = host_attempt(2, 10);
    a.size.gpus = 2000;
    b.size.gpus = 1000;
    setenv("NVML_COUNT", "3", 1);
    void *loaded = dlopen(library, RTLD_NOW);
    assert_non_null(loaded);
    host_open(&h);
    assert_int_equal(h.node->gpus, 3000);
    assert_string_equal(h.node->gpu_type, "New");
    start(&h, &a, "GPU-1,GPU-2");
    host_restart(&h);
    runtime_local.adopt(h.r, a.id, h.node->name, &a.size);
    start(&h, &b, "GPU-3");
    host_clean(&h, &a);
    host_clean(&h, &b);
    host_close(&h);
    dlclose(loaded);
}

/* It runs, so it is adopted, although it could not be started here any more. */
static void test_a_job_is_adopted_when_its_gpus_are_gone(void **state)
{
    (void)state;
    struct host h;
    struct host_attempt a = host_attempt(1, 10);
    a.size.gpus = 2000;
    setenv("NVML_COUNT", "2", 1);
    void *loaded = dlopen(library, RTLD_NOW);
    assert_non_null(loaded);
    host_open(&h);
    host_start(&h, &a, "sleep");
    setenv("NVML_COUNT", "1", 1);
    host_restart(&h);
    assert_int_equal(h.node->gpus, 1000);
    runtime_local.adopt(h.r, a.id, h.node->name, &a.size);
    runtime_local.sweep(h.r);
    host_rest(&h);
    assert_int_equal(host_settle(&h, &a, true), FATE_RUNNING);
    host_clean(&h, &a);
    host_close(&h);
    dlclose(loaded);
}

static const struct CMUnitTest tests[] = {
    TEST(test_inventory),
    TEST(test_no_library_is_no_gpu),
    TEST(test_no_driver_is_an_error),
    TEST(test_grants_move_to_a_new_list),
    TEST(test_a_failing_or_wrong_library_is_an_error),
    TEST(test_one_model_is_used),
    TEST(test_whole_gpus_are_given_alone_and_parts_together),
    TEST(test_a_claim_is_kept),
    HOST_TEST(test_jobs_get_gpus_by_uuid),
    HOST_TEST(test_a_job_is_adopted_when_its_gpus_are_gone),
};

int main(int argc, char **argv)
{
    conduct_if_asked(argc, argv);
    return cmocka_run_group_tests(tests, build_library, remove_library);
}
