/* Tests of how a cluster is found: kubeconfigs, service accounts, plugins, the handshake of a
 * WebSocket. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/kubernetes/config.h"
#include "runtime/kubernetes/credentials.h"
#include "runtime/kubernetes/exec.h"
#include "runtime/kubernetes/yaml.h"
#include "support/test.h"

static char dir[] = "/tmp/trainyard-kubeconfig-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static const char kubeconfig[] =
    "apiVersion: v1\n"
    "current-context: one\n"
    "clusters:\n"
    "- name: c\n"
    "  cluster: {server: 'https://h:6443/', certificate-authority: ca.pem}\n"
    "- name: d\n"
    "  cluster:\n"
    "    server: https://d\n"
    "    insecure-skip-tls-verify: true\n"
    "    certificate-authority-data: Q0EK\n"
    "users:\n"
    "- name: u\n"
    "  user: {token: secret}\n"
    "- name: p\n"
    "  user:\n"
    "    exec:\n"
    "      apiVersion: client.authentication.k8s.io/v1beta1\n"
    "      command: ./plugin\n"
    "      args: [get-token, --x]\n"
    "      env: [{name: A, value: b}]\n"
    "      installHint: get it\n"
    "- name: old\n"
    "  user: {auth-provider: {name: gcp}}\n"
    "contexts:\n"
    "- name: one\n"
    "  context: {cluster: c, user: u, namespace: train}\n"
    "- name: two\n"
    "  context: {cluster: d, user: p}\n"
    "- name: old\n"
    "  context: {cluster: d, user: old}\n"
    "- name: lost\n"
    "  context: {cluster: nowhere, user: u}\n";

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    write_file("config", kubeconfig);
    write_file("ca.pem", "PEM\n");
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"config", "ca.pem", "more", "token", "ca.crt", "namespace"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(path_of(names[i]));
    return rmdir(dir);
}

static void test_contexts(void **state)
{
    (void)state;
    struct arena a = {0};
    struct kube_config c;
    struct err err;
    struct kube_places places = {.kubeconfig = arena_strdup(&a, path_of("config"))};
    assert_ok(kube_config_read(&places, NULL, &a, &c, &err), err);
    assert_string_equal(c.server, "https://h:6443");
    assert_string_equal(c.ca, "PEM\n");
    assert_string_equal(c.token, "secret");
    assert_string_equal(c.namespace, "train");
    assert_null(c.plugin.command);
    assert_ok(kube_config_read(&places, "two", &a, &c, &err), err);
    assert_true(c.insecure);
    assert_string_equal(c.ca, "CA\n");
    assert_string_equal(c.namespace, "default");
    assert_int_equal(strncmp(c.plugin.command, dir, strlen(dir)), 0);
    assert_string_equal(c.plugin.args[1], "--x");
    assert_string_equal(c.plugin.env[0], "A=b");
    assert_string_equal(c.plugin.hint, "get it");
    assert_error(kube_config_read(&places, "three", &a, &c, &err), err, ERR_NOT_FOUND,
                 "no context 'three'");
    assert_error(kube_config_read(&places, "lost", &a, &c, &err), err, ERR_NOT_FOUND,
                 "no cluster 'nowhere'");
    assert_error(kube_config_read(&places, "old", &a, &c, &err), err, ERR_INVALID, "auth-provider");
    arena_done(&a);
}

/* Of several files the first that has a name counts; one that is missing does not matter. */
static void test_several_files(void **state)
{
    (void)state;
    struct arena a = {0};
    struct kube_config c;
    struct err err;
    struct str paths = {0};
    write_file("more", "{\"current-context\": \"one\", \"users\": [{\"name\": \"u\", \"user\": "
                       "{\"token\": \"other\"}}]}");
    str_addf(&paths, "%s/missing:%s/more:%s/config", dir, dir, dir);
    struct kube_places places = {.kubeconfig = paths.at};
    assert_ok(kube_config_read(&places, NULL, &a, &c, &err), err);
    assert_string_equal(c.token, "other");
    assert_string_equal(c.server, "https://h:6443");
    str_done(&paths);
    write_file("more", "a: [");
    places.kubeconfig = path_of("more");
    assert_error(kube_config_read(&places, NULL, &a, &c, &err), err, ERR_INVALID, "line 2");
    arena_done(&a);
}

static void test_service_account(void **state)
{
    (void)state;
    struct arena a = {0};
    struct kube_config c;
    struct err err;
    struct kube_places places = {.account = dir, .host = "10.0.0.1", .port = "443"};
    assert_error(kube_config_read(&places, "in-cluster", &a, &c, &err), err, ERR_NOT_FOUND,
                 "ca.crt");
    write_file("ca.crt", "PEM\n");
    write_file("namespace", "yard\n");
    assert_ok(kube_config_read(&places, NULL, &a, &c, &err), err);
    assert_string_equal(c.server, "https://10.0.0.1:443");
    assert_string_equal(c.namespace, "yard");
    assert_non_null(strstr(c.token_file, "/token"));
    places.host = "fd00::1";
    assert_ok(kube_config_read(&places, "in-cluster", &a, &c, &err), err);
    assert_string_equal(c.server, "https://[fd00::1]:443");
    places = (struct kube_places){0};
    assert_error(kube_config_read(&places, NULL, &a, &c, &err), err, ERR_NOT_FOUND, "KUBECONFIG");
    arena_done(&a);
}

static void test_plugin_output(void **state)
{
    (void)state;
    static const char text[] = "{\"status\":{\"token\":\"t\",\"expirationTimestamp\":"
                               "\"1970-01-01T01:00:00Z\"}}";
    char *token, *cert, *key;
    usec_t expires;
    struct err err;
    assert_ok(credentials_parse(text, sizeof text - 1, &token, &cert, &key, &expires, &err), err);
    assert_string_equal(token, "t");
    assert_null(cert);
    assert_true(expires == 3600 * USEC_PER_SEC);
    free(token);
    static const char *const bad[] = {"", "{}", "{\"status\":{\"clientKeyData\":\"k\"}}", "[1]"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_error(credentials_parse(bad[i], strlen(bad[i]), &token, &cert, &key, &expires, &err),
                     err, ERR_INVALID, "ExecCredential");
}

/* The example of RFC 6455, 1.3. */
static void test_handshake(void **state)
{
    (void)state;
    static const char key[] = "dGhlIHNhbXBsZSBub25jZQ==";
    static const char head[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                               "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
                               "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n";
    struct err err;
    assert_ok(kube_exec_check(head, key, &err), err);
    assert_error(kube_exec_check(head, "other", &err), err, ERR_INVALID, "WebSocket");
    assert_error(kube_exec_check("HTTP/1.1 101 x\r\nSec-WebSocket-Accept: "
                                 "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
                                 key, &err),
                 err, ERR_INVALID, "v4.channel.k8s.io");
}

static void test_yaml(void **state)
{
    (void)state;
    static const char text[] = "a: 1\nb: '1'\nc: [true, ~, 1.5, x y]\nd: {e: \"f\\n\"}\n";
    json_t *v = NULL;
    struct err err;
    assert_ok(yaml_to_json(text, sizeof text - 1, &v, &err), err);
    char *json AUTO_FREE = json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(json, "{\"a\":1,\"b\":\"1\",\"c\":[true,null,1.5,\"x y\"],\"d\":{\"e\":"
                              "\"f\\n\"}}");
    json_decref(v);
    static const char *const bad[] = {"", "a: [", "? [a]\n: b\n", "- &a [*a]\n"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_error(yaml_to_json(bad[i], strlen(bad[i]), &v, &err), err, ERR_INVALID, "");
}

static const struct CMUnitTest tests[] = {TEST(test_contexts),        TEST(test_several_files),
                                          TEST(test_service_account), TEST(test_plugin_output),
                                          TEST(test_handshake),       TEST(test_yaml)};

int main(void)
{
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
