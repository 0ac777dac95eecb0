/* Tests of what an engine says and is asked: its JSON both ways, and the progress of a pull. */
#include <jansson.h>

#include "runtime/docker/answers.h"
#include "runtime/docker/container.h"
#include "runtime/docker/pull.h"
#include "support/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_versions(void **state)
{
    (void)state;
    struct answer_version v;
    struct err err;
    static const char text[] = "{\"ApiVersion\":\"1.41\",\"MinAPIVersion\":\"1.12\"}";
    assert_ok(answer_read_version(text, sizeof text - 1, &v, &err), err);
    assert_int_equal(v.newest, 1041);
    assert_int_equal(v.oldest, 1012);
    static const char *const bad[] = {"{}", "[]", "x", "{\"ApiVersion\":\"1.x\"}",
                                      "{\"ApiVersion\":1.41}"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_error(answer_read_version(bad[i], strlen(bad[i]), &v, &err), err, ERR_INVALID,
                     "the engine");
}

static void test_images(void **state)
{
    (void)state;
    static const char text[] = "{\"Config\":{\"Entrypoint\":[\"/e\"],\"Cmd\":null,"
                               "\"Env\":[\"A=1\",7,\"B=2\"],\"WorkingDir\":\"/w\"}}";
    struct arena a = {0};
    struct answer_image image;
    struct err err;
    assert_ok(answer_read_image(text, sizeof text - 1, &a, &image, &err), err);
    assert_string_equal(image.entrypoint[0], "/e");
    assert_null(image.entrypoint[1]);
    assert_null(image.command[0]);
    assert_string_equal(image.env[1], "B=2");
    assert_string_equal(image.workdir, "/w");
    arena_done(&a);
}

static void test_containers(void **state)
{
    (void)state;
    static const struct {
        const char *status;
        enum container_state want;
    } cases[] = {{"created", CONTAINER_CREATED}, {"running", CONTAINER_RUNNING},
                 {"paused", CONTAINER_RUNNING},  {"exited", CONTAINER_ENDED},
                 {"dead", CONTAINER_LEAVING},    {"configured", CONTAINER_CREATED}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct answer_container c;
        struct str text = {0};
        struct err err;
        str_addf(&text,
                 "{\"Id\":\"" ID "\",\"State\":{\"Status\":\"%s\",\"ExitCode\":3},"
                 "\"Config\":{\"Labels\":{\"" LABEL_LOG_PART "\":\"100\"}}}",
                 cases[i].status);
        assert_ok(answer_read_container(text.at, text.n, &c, &err), err);
        assert_int_equal(c.state, cases[i].want);
        assert_true(c.paused == !strcmp(cases[i].status, "paused"));
        assert_true(c.exit_code == 3 && c.log_part == 100);
        str_done(&text);
    }
    struct answer_container c;
    struct err err;
    static const char bad[] = "{\"Id\":\"../x\",\"State\":{\"Status\":\"exited\"}}";
    assert_error(answer_read_container(bad, sizeof bad - 1, &c, &err), err, ERR_INVALID, "state");
}

static void add_id(void *ctx, const struct answer_ours *c)
{
    str_addf(ctx, "%lld.%u:%d ", (long long)c->job, c->attempt, c->state);
}

static void test_ours(void **state)
{
    (void)state;
    static const char list[] =
        "[{\"Id\":\"" ID "\",\"State\":\"running\",\"Labels\":{\"trainyard.job\":\"7\","
        "\"trainyard.attempt\":\"2\"}},{\"Id\":\"" ID "\",\"Labels\":{}},17]";
    static const char died[] =
        "{\"Type\":\"container\",\"Action\":\"die\",\"Actor\":{\"ID\":\"" ID
        "\",\"Attributes\":{\"trainyard.job\":\"7\",\"trainyard.attempt\":\"2\"}}}";
    static const char image[] = "{\"Type\":\"image\",\"Action\":\"pull\"}";
    struct str got = {0};
    struct answer_ours c;
    struct err err;
    assert_ok(answer_read_list(list, sizeof list - 1, add_id, &got, &err), err);
    assert_string_equal(got.at, "7.2:1 ");
    str_done(&got);
    assert_int_equal(answer_read_event(died, sizeof died - 1, &c), 1);
    assert_true(c.died && c.job == 7 && c.attempt == 2);
    assert_int_equal(answer_read_event(image, sizeof image - 1, &c), 0);
    assert_int_equal(answer_read_event("17", 2, &c), -1);
    assert_error(answer_read_list("{}", 2, add_id, NULL, &err), err, ERR_INVALID, "list");
}

static void test_errors(void **state)
{
    (void)state;
    char text[64];
    static const char json[] = "{\"message\":\"no such\\nthing\"}", plain[] = "404 page\r\nmore";
    answer_read_error(json, sizeof json - 1, text, sizeof text);
    assert_string_equal(text, "no such");
    answer_read_error(plain, sizeof plain - 1, text, sizeof text);
    assert_string_equal(text, "404 page");
    answer_read_error("", 0, text, sizeof text);
    assert_string_equal(text, "");
}

/* ---- pulls ------------------------------------------------------------------------- */

static void test_pull(void **state)
{
    (void)state;
    static const char text[] =
        "{\"status\":\"Pulling from x\",\"id\":\"latest\"}\r\n"
        "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":1000000,\"total\":4000000},"
        "\"id\":\"aa\"}\r\n"
        "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":2000000,\"total\":6000000},"
        "\"id\":\"bb\"}\r\n"
        "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":3000000,\"total\":4000000},"
        "\"id\":\"aa\"}\r\n";
    struct pull p = {0};
    struct str s = {0};
    for (size_t i = 0; i < sizeof text - 1; i++)
        pull_feed(&p, text + i, 1);
    assert_true(p.changed);
    pull_describe(&p, "x", &s);
    assert_string_equal(s.at, "pulling the image x: 5 of 10 MB");
    assert_false(p.changed);
    assert_int_equal(p.err.code, ERR_OK);
    static const char failed[] = "{\"errorDetail\":{},\"error\":\"manifest unknown\"}\n";
    pull_feed(&p, failed, sizeof failed - 1);
    assert_string_equal(p.err.text, "manifest unknown");
    str_done(&s);
    pull_done(&p);
}

static void test_names_of_images(void **state)
{
    (void)state;
    static const struct {
        const char *image, *registry, *name, *tag;
    } cases[] = {
        {"busybox", "https://index.docker.io/v1/", "busybox", "latest"},
        {"a/b:1", "https://index.docker.io/v1/", "a/b", "1"},
        {"docker.io/me/x", "https://index.docker.io/v1/", "docker.io/me/x", "latest"},
        {"index.docker.io/me/x:1", "https://index.docker.io/v1/", "index.docker.io/me/x", "1"},
        {"localhost:5000/b", "localhost:5000", "localhost:5000/b", "latest"},
        {"r.example/b/c:2", "r.example", "r.example/b/c", "2"},
        {"r.example/b@sha256:00", "r.example", "r.example/b", "sha256:00"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str registry = {0}, name = {0}, tag = {0};
        pull_registry(cases[i].image, &registry);
        pull_split(cases[i].image, &name, &tag);
        assert_string_equal(registry.at, cases[i].registry);
        assert_string_equal(name.at, cases[i].name);
        assert_string_equal(tag.at, cases[i].tag);
        str_done(&registry);
        str_done(&name);
        str_done(&tag);
    }
}

static void test_credentials(void **state)
{
    (void)state;
    struct str s = {0};
    /* ann:secret */
    static const char config[] = "{\"auths\":{\"r\":{\"auth\":\"YW5uOnNlY3JldA==\"}}}";
    pull_add_credentials(config, "other", &s);
    pull_add_credentials("nonsense", "r", &s);
    pull_add_credentials("{\"auths\":{\"r\":{\"auth\":\"!\"}}}", "r", &s);
    assert_int_equal(s.n, 0);
    pull_add_credentials(config, "r", &s);
    assert_string_equal(s.at, "X-Registry-Auth: eyJ1c2VybmFtZSI6ImFubiIsInBhc3N3b3JkIjoic2VjcmV0Ii"
                              "wic2VydmVyYWRkcmVzcyI6InIifQ==");
    str_done(&s);
}

/* ---- what is asked for --------------------------------------------------------------- */

static void test_create(void **state)
{
    (void)state;
    const char *mounts[] = {"/a:/b:ro", "/c:/d", NULL}, *ulimits[] = {"nofile=1:2", NULL};
    struct runtime_container c = {.image = "i", .mounts = mounts, .ulimits = ulimits, .shm_mb = 3};
    struct runtime_size size = {.cpu_limit = 4000, .cpu_weight = 0.5, .memory_mb = 2};
    struct container_request q = {.id = {7, 2, 0},
                                  .yard = "y",
                                  .container = &c,
                                  .size = &size,
                                  .node_cpus = 2000,
                                  .workdir = "/w",
                                  .volume = "v",
                                  .checkpoints = "/.trainyard/checkpoints",
                                  .log_part = 9,
                                  .gpus = 5};
    struct str s = {0};
    container_add_create(&q, &s);
    json_t *v = json_loads(s.at, 0, NULL);
    const json_t *host = json_object_get(v, "HostConfig");
    json_int_t cpus, memory, swap, shares, shm;
    const char *drop, *security;
    assert_int_equal(json_unpack((json_t *)host, "{s:I, s:I, s:I, s:I, s:I, s:[s], s:[s]}",
                                 "NanoCpus", &cpus, "Memory", &memory, "MemorySwap", &swap,
                                 "CpuShares", &shares, "ShmSize", &shm, "CapDrop", &drop,
                                 "SecurityOpt", &security),
                     0);
    assert_true(cpus == 2000000000 && memory == 2 << 20 && swap == memory && shares == 512);
    assert_int_equal(shm, 3 << 20);
    assert_string_equal(drop, "ALL");
    assert_string_equal(security, "no-new-privileges");
    assert_int_equal(json_array_size(json_object_get(host, "Mounts")), 3);
    assert_non_null(strstr(s.at, "{\"Name\":\"nofile\",\"Soft\":1,\"Hard\":2}"));
    assert_non_null(strstr(s.at, "\"Source\":\"/a\",\"Target\":\"/b\",\"ReadOnly\":true"));
    assert_non_null(strstr(s.at, "\"trainyard.gpus\":\"5\""));
    assert_non_null(strstr(s.at, "\"DeviceRequests\":[{\"DeviceIDs\":[\"0\",\"2\"],"
                                 "\"Capabilities\":[[\"gpu\"]]}]"));
    assert_non_null(strstr(s.at, "NVIDIA_VISIBLE_DEVICES=void"));
    json_decref(v);
    str_done(&s);
}

static const struct CMUnitTest tests[] = {
    TEST(test_versions), TEST(test_images), TEST(test_containers),      TEST(test_ours),
    TEST(test_errors),   TEST(test_pull),   TEST(test_names_of_images), TEST(test_credentials),
    TEST(test_create)};

int main(void)
{
    return RUN(tests);
}
