/* Tests of runtime/docker/endpoint: addresses, and what the docker client has configured. */
#include "runtime/docker/endpoint.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "support/test.h"

static void assert_text(const char *got, const char *want)
{
    if (want)
        assert_string_equal(got, want);
    else
        assert_null(got);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *address, *tls;
        struct endpoint want;
    } cases[] = {
        {"unix:///run/x.sock", NULL, {ENDPOINT_UNIX, "/run/x.sock", NULL, NULL, NULL}},
        {"tcp://gpu1", NULL, {ENDPOINT_TCP, NULL, "gpu1:2375", NULL, NULL}},
        {"tcp://gpu1", "/certs", {ENDPOINT_TCP, NULL, "gpu1:2376", NULL, "/certs"}},
        {"https://10.0.0.1:99/", "/c", {ENDPOINT_TCP, NULL, "10.0.0.1:99", NULL, "/c"}},
        {"tcp://[::1]:2375", NULL, {ENDPOINT_TCP, NULL, "[::1]:2375", NULL, NULL}},
        {"tcp://[::1]", NULL, {ENDPOINT_TCP, NULL, "[::1]:2375", NULL, NULL}},
        {"ssh://me@gpu1", NULL, {ENDPOINT_SSH, NULL, "me@gpu1", NULL, NULL}},
        {"ssh://gpu1:2222/run/p.sock", NULL, {ENDPOINT_SSH, "/run/p.sock", "gpu1", "2222", NULL}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena a = {0};
        struct endpoint e;
        struct err err;
        assert_ok(endpoint_parse(cases[i].address, cases[i].tls, &a, &e, &err), err);
        assert_int_equal(e.kind, cases[i].want.kind);
        assert_text(e.path, cases[i].want.path);
        assert_text(e.host, cases[i].want.host);
        assert_text(e.port, cases[i].want.port);
        assert_text(e.tls, cases[i].want.tls);
        arena_done(&a);
    }
}

static void test_bad_addresses(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "gpu1",
                                      "http://x",
                                      "unix://x",
                                      "tcp://",
                                      "tcp://a:0",
                                      "tcp://a:x",
                                      "tcp://a/b",
                                      "ssh://",
                                      "ssh://a:b",
                                      "ssh://-oProxyCommand=x",
                                      "ssh://a b",
                                      "https://x",
                                      "ssh://a;b"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct arena a = {0};
        struct endpoint e;
        struct err err;
        assert_error(endpoint_parse(bad[i], NULL, &a, &e, &err), err, ERR_INVALID, bad[i]);
        arena_done(&a);
    }
}

/* ---- the client's configuration ---------------------------------------------------- */

static void write_text(const char *dir, const char *file, const char *text)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, file);
    FILE *f = fopen(path.at, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    str_done(&path);
}

static void test_contexts(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_endpoint.XXXXXX", meta[64], tls[64];
    struct arena a = {0};
    struct endpoint e;
    struct err err;
    assert_non_null(mkdtemp(dir));
    snprintf(meta, sizeof meta, "%s/contexts/meta/01ab", dir);
    snprintf(tls, sizeof tls, "%s/contexts/tls/01ab/docker", dir);
    assert_int_equal(fs_make_dirs(meta, 0700), 0);
    assert_int_equal(fs_make_dirs(tls, 0700), 0);
    write_text(meta, "meta.json",
               "{\"Name\":\"lab\",\"Endpoints\":{\"docker\":{\"Host\":\"tcp://lab:1\"}}}");
    struct endpoint_context c = {.config_dir = dir};
    assert_ok(endpoint_resolve("context:lab", NULL, &c, &a, &e, &err), err);
    assert_string_equal(e.host, "lab:1");
    assert_string_equal(e.tls, tls);
    assert_error(endpoint_resolve("context:x", NULL, &c, &a, &e, &err), err, ERR_INVALID,
                 "docker context");
    assert_ok(endpoint_resolve("default", NULL, &c, &a, &e, &err), err);
    assert_string_equal(e.path, "/var/run/docker.sock");
    write_text(dir, "config.json", "{\"currentContext\":\"lab\"}");
    assert_ok(endpoint_resolve("default", NULL, &c, &a, &e, &err), err);
    assert_string_equal(e.host, "lab:1");
    c.docker_host = "unix:///x";
    assert_ok(endpoint_resolve("default", NULL, &c, &a, &e, &err), err);
    assert_string_equal(e.path, "/x");
    c.docker_host = "tcp://lab:2";
    assert_ok(endpoint_resolve("default", NULL, &c, &a, &e, &err), err);
    assert_null(e.tls);
    c.tls_verify = "1";
    assert_ok(endpoint_resolve("default", NULL, &c, &a, &e, &err), err);
    assert_string_equal(e.tls, dir);
    c.cert_path = "/certs";
    assert_ok(endpoint_resolve("default", NULL, &c, &a, &e, &err), err);
    assert_string_equal(e.tls, "/certs");
    arena_done(&a);
    struct str command = {0};
    str_addf(&command, "rm -r %s", dir);
    assert_int_equal(system(command.at), 0); /* NOLINT(cert-env33-c): a directory of our own */
    str_done(&command);
}

static const struct CMUnitTest tests[] = {TEST(test_addresses), TEST(test_bad_addresses),
                                          TEST(test_contexts)};

int main(void)
{
    return RUN(tests);
}
