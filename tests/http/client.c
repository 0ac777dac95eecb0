/* Tests of the client's requests, against the real server, against one that speaks
 * TLS, and against what is no server. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <jansson.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/client.h"
#include "http/reply.h"
#include "http/request.h"
#include "support/http_host.h"
#include "support/test.h"

static void echo(const struct request *q, struct reply *r, void *ctx)
{
    struct err err;
    json_t *body = NULL;
    (void)ctx;
    reply_header(r, "X-Method", q->method);
    if (q->body_n && request_json(q, &body, &err) < 0)
        reply_problem(r, &err, NULL);
    else
        reply_json(r, 200, json_pack("{ssso*}", "path", q->path, "body", body));
}

static void refuse(const struct request *q, struct reply *r, void *ctx)
{
    struct err err;
    (void)ctx;
    err_set(&err, (enum err_code)atoi(request_param(q, "code")), "job %d is \"odd\"", 17);
    reply_problem(r, &err, "id");
}

static void odd(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    int status = request_query(q, "status") ? atoi(request_query(q, "status")) : 200;
    if (status == 204)
        reply_empty(r, 204);
    else
        reply_text(r, status, "text/plain", "no json");
}

static const struct route routes[] = {
    {"GET", "/echo", echo, "echo", false},    {"POST", "/echo", echo, "echo", false},
    {"DELETE", "/echo", echo, "echo", false}, {"GET", "/fail/{code}", refuse, "fail", false},
    {"GET", "/odd", odd, "odd", false},       {0},
};

static struct http_host host;

static struct http_client *connect_to(struct http_client_config config)
{
    struct http_client *c;
    struct err err;
    assert_ok(http_client_create(&config, &c, &err), err);
    return c;
}

static int start(void **state)
{
    http_host_start(&host, (struct http_config){.routes = routes, .identify = http_host_knows});
    *state = connect_to((struct http_client_config){.socket = host.socket});
    return 0;
}

static int stop(void **state)
{
    http_client_free(*state);
    http_host_stop(&host, USEC_PER_SEC);
    return 0;
}

/* ---- requests -------------------------------------------------------------- */

static void assert_path(struct http_client *c, const char *method, const json_t *body)
{
    struct err err;
    json_t *out;
    assert_ok(http_client_json(c, method, "/echo?x=1", body, &out, &err), err);
    assert_string_equal(json_string_value(json_object_get(out, "path")), "/echo");
    assert_true(!body || json_equal(json_object_get(out, "body"), body));
    assert_string_equal(http_client_header(c, "x-method"), method);
    assert_null(http_client_header(c, "X-Nothing"));
    json_decref(out);
}

static void test_json(void **state)
{
    json_t *body = json_pack("{s[iiss]}", "list", 1, 2, "\xc3\xa9", "\n");
    for (int i = 0; i < 50; i++) {
        assert_path(*state, "GET", NULL);
        assert_path(*state, "POST", body);
        assert_path(*state, "DELETE", NULL);
    }
    json_decref(body);
}

static void test_send(void **state)
{
    struct http_answer a;
    struct err err;
    assert_ok(http_client_send(*state, "GET", "/nowhere", NULL, NULL, 0, &a, &err), err);
    assert_int_equal(a.status, 404);
    assert_string_equal(a.type, "application/problem+json");
    http_answer_done(&a);
    assert_ok(http_client_send(*state, "HEAD", "/echo", NULL, NULL, 0, &a, &err), err);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.body.n, 0);
    http_answer_done(&a);
    size_t n = 9u << 20;
    AUTO_FREE char *large = xmalloc(n);
    memset(large, ' ', n);
    assert_ok(http_client_send(*state, "POST", "/echo", "application/json", large, n, &a, &err),
              err);
    assert_int_equal(a.status, 413);
    http_answer_done(&a);
    assert_ok(
        http_client_send(*state, "POST", "/echo", "application/json", large, 8u << 20, &a, &err),
        err);
    assert_int_equal(a.status, 400);
    http_answer_done(&a);
}

/* Every error comes out as it went in. */
static void test_problems(void **state)
{
    struct err err;
    for (int code = ERR_INVALID; code <= ERR_UNREACHABLE; code++) {
        char path[32];
        snprintf(path, sizeof path, "/fail/%d", code);
        assert_error(http_client_json(*state, "GET", path, NULL, NULL, &err), err,
                     (enum err_code)code, "job 17 is \"odd\"");
    }
    assert_error(http_client_json(*state, "GET", "/nowhere", NULL, NULL, &err), err, ERR_NOT_FOUND,
                 "there is nothing at /nowhere");
    assert_error(http_client_json(*state, "PUT", "/echo", NULL, NULL, &err), err, ERR_INVALID,
                 "PUT is not allowed here");
    assert_error(http_client_json(*state, "GET", "/odd?status=502", NULL, NULL, &err), err,
                 ERR_UNREACHABLE, "HTTP status 502");
    assert_error(http_client_json(*state, "GET", "/odd", NULL, NULL, &err), err, ERR_INTERNAL,
                 "is not JSON");
    json_t *out = (json_t *)state;
    assert_ok(http_client_json(*state, "GET", "/odd?status=204", NULL, &out, &err), err);
    assert_null(out);
}

/* ---- no server ------------------------------------------------------------- */

static void assert_unreachable(struct http_client_config config, enum err_code code,
                               const char *words)
{
    struct http_client *c = connect_to(config);
    struct err err;
    assert_error(http_client_json(c, "GET", "/", NULL, NULL, &err), err, code, words);
    http_client_free(c);
}

static void test_unreachable(void **state)
{
    char path[] = "/tmp/trainyard-http-none-XXXXXX";
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    (void)state;
    close(mkstemp(path));
    struct http_client_config config = {.socket = path, .timeout_s = 1};
    assert_unreachable(config, ERR_UNREACHABLE, path);
    unlink(path);
    assert_unreachable(config, ERR_UNREACHABLE, "No such file or directory");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(a.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_unreachable(config, ERR_UNREACHABLE, "Connection refused");
    assert_int_equal(listen(fd, 5), 0);
    assert_unreachable(config, ERR_UNREACHABLE, "does not answer");
    close(fd);
    unlink(path);
    assert_unreachable((struct http_client_config){.url = "http://127.0.0.1:1"}, ERR_UNREACHABLE,
                       "no server answers at http://127.0.0.1:1: Connection refused");
    assert_unreachable((struct http_client_config){.url = "http://no.such.host.invalid"},
                       ERR_UNREACHABLE, "no.such.host.invalid");
    assert_int_equal(err_exit(ERR_UNREACHABLE), 3);
}

/* A server that is there, but not for this user. */
static void test_denied(void **state)
{
    enum { NOBODY = 65534 };
    bool root = geteuid() == 0;
    /* Root may use any socket. */
    if (root ? seteuid(NOBODY) < 0 : chmod(host.socket, 0) < 0)
        SKIP("no right to be another user");
    assert_unreachable((struct http_client_config){.socket = host.socket}, ERR_DENIED,
                       "no permission to connect to the server at /tmp/");
    assert_true(!root || seteuid(0) == 0);
    (void)state;
}

static void test_config(void **state)
{
    struct http_client *c;
    struct err err;
    (void)state;
    assert_error(http_client_create(&(struct http_client_config){0}, &c, &err), err, ERR_INVALID,
                 "the socket or the address");
    assert_error(http_client_create(&(struct http_client_config){.socket = "s", .url = "http://x"},
                                    &c, &err),
                 err, ERR_INVALID, "the socket or the address");
    assert_error(http_client_create(&(struct http_client_config){.url = "ftp://x"}, &c, &err), err,
                 ERR_INVALID, "must start with http://");
    assert_error(http_client_create(
                     &(struct http_client_config){.socket = "s", .token = "a\r\nX: y"}, &c, &err),
                 err, ERR_INVALID, "must be a single line");
    http_client_free(NULL);
}

static void test_token(void **state)
{
    char url[64];
    struct err err;
    (void)state;
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", host.port);
    struct http_client *c = connect_to((struct http_client_config){.url = url, .token = "s3cret"});
    assert_path(c, "GET", NULL);
    http_client_free(c);
    c = connect_to((struct http_client_config){.url = url, .token = "wrong"});
    assert_error(http_client_json(c, "GET", "/echo", NULL, NULL, &err), err, ERR_DENIED,
                 "the token is wrong, expired or revoked");
    http_client_free(c);
    c = connect_to((struct http_client_config){.url = url});
    assert_error(http_client_json(c, "GET", "/echo", NULL, NULL, &err), err, ERR_DENIED,
                 "a token is required");
    http_client_free(c);
}

/* ---- TLS ------------------------------------------------------------------- */

static char *read_file(const char *dir, const char *name)
{
    char path[128], text[8192];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    return xstrndup(text, n);
}

static enum MHD_Result tls_hello(void *cls, struct MHD_Connection *c, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **ctx)
{
    static const char hello[] = "{\"hello\":1}";
    (void)cls;
    (void)url;
    (void)method;
    (void)version;
    (void)data;
    (void)size;
    (void)ctx;
    struct MHD_Response *r =
        MHD_create_response_from_buffer(sizeof hello - 1, (void *)hello, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result rc = MHD_queue_response(c, 200, r);
    MHD_destroy_response(r);
    return rc;
}

static void make_certificate(const char *dir)
{
    char command[512];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey rsa:2048 -nodes -keyout %s/key -out %s/cert -days 2 "
             "-subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null",
             dir, dir);
    if (system(command) == 0)
        return;
    rmdir(dir);
    SKIP("no openssl command");
}

/* A certificate that nobody vouches for is refused, unless it was given to us; one
 * for another name is refused in any case. */
static void ask_by_tls(const char *dir, unsigned port)
{
    char url[64], other[64], ca[64], none[64];
    struct err err;
    snprintf(url, sizeof url, "https://localhost:%u", port);
    snprintf(other, sizeof other, "https://127.0.0.1:%u", port);
    snprintf(ca, sizeof ca, "%s/cert", dir);
    snprintf(none, sizeof none, "%s/none", dir);
    assert_unreachable((struct http_client_config){.url = url}, ERR_DENIED, "certificate");
    assert_unreachable((struct http_client_config){.url = other, .ca_file = ca}, ERR_DENIED,
                       "127.0.0.1");
    assert_unreachable((struct http_client_config){.url = url, .ca_file = none}, ERR_UNREACHABLE,
                       none);
    struct http_client *c = connect_to((struct http_client_config){.url = url, .ca_file = ca});
    assert_ok(http_client_json(c, "GET", "/", NULL, NULL, &err), err);
    http_client_free(c);
}

static void test_tls(void **state)
{
    char dir[] = "/tmp/trainyard-tls-XXXXXX", file[64];
    (void)state;
    if (!MHD_is_feature_supported(MHD_FEATURE_TLS))
        SKIP("libmicrohttpd without TLS");
    assert_non_null(mkdtemp(dir));
    make_certificate(dir);
    AUTO_FREE char *key = read_file(dir, "key"), *cert = read_file(dir, "cert");
    struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_TLS | MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL,
                                            NULL, tls_hello, NULL, MHD_OPTION_HTTPS_MEM_KEY, key,
                                            MHD_OPTION_HTTPS_MEM_CERT, cert, MHD_OPTION_END);
    assert_non_null(d);
    ask_by_tls(dir, MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT)->port);
    MHD_stop_daemon(d);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", dir, i ? "key" : "cert");
        unlink(file);
    }
    assert_int_equal(rmdir(dir), 0);
}

#define HOSTED(f) cmocka_unit_test_setup_teardown(f, start, stop)

static const struct CMUnitTest tests[] = {
    HOSTED(test_json),   HOSTED(test_send), HOSTED(test_problems), TEST(test_unreachable),
    HOSTED(test_denied), TEST(test_config), HOSTED(test_token),    TEST(test_tls),
};

int main(void)
{
    return RUN(tests);
}
