/* Tests of listening sockets: the file of a unix socket, addresses, the token, and
 * who is at the other end. */
#include <jansson.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/listen.h"
#include "http/reply.h"
#include "http/request.h"
#include "support/http_host.h"
#include "support/test.h"

static void who(const struct request *q, struct reply *r, void *ctx)
{
    const struct peer *p = q->peer;
    (void)ctx;
    reply_json(r, 200,
               json_pack("{sbsisisiss}", "local", p->local, "uid", (int)p->uid, "gid", (int)p->gid,
                         "pid", (int)p->pid, "address", p->address));
}

static void ok(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_text(r, 200, "text/plain", "ok");
}

static const struct route routes[] = {
    {"GET", "/who", who, "who", false},
    {"GET", "/ok", ok, "ok", false},
    {"POST", "/ok", ok, "ok", false},
    {"GET", "/health", ok, "health", true},
    {0},
};

static const struct http_config plain = {.routes = routes};
static const struct http_config with_token = {.routes = routes, .identify = http_host_knows};

/* ---- the unix socket ------------------------------------------------------- */

static void test_file(void **state)
{
    struct http_host h;
    struct stat st;
    (void)state;
    mode_t mask = umask(0);
    http_host_start(&h, plain);
    umask(mask);
    assert_int_equal(stat(h.socket, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    http_host_stop(&h, USEC_PER_SEC);
    assert_int_equal(stat(h.socket, &st), -1);
}

static void test_peer(void **state)
{
    struct http_host h;
    char want[128];
    (void)state;
    http_host_start(&h, with_token);
    struct wire_reply r = wire_ask(&h, "GET /who", "", NULL);
    snprintf(want, sizeof want,
             "{\"local\":true,\"uid\":%d,\"gid\":%d,\"pid\":%d,\"address\":\"\"}", (int)getuid(),
             (int)getgid(), (int)getpid());
    assert_string_equal(r.body.at, want);
    wire_reply_done(&r);
    int fd = wire_connect_tcp(&h);
    wire_send(fd, "GET /who HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer s3cret\r\n\r\n");
    r = wire_read_reply(fd, false);
    assert_non_null(strstr(r.body.at, "\"local\":false"));
    assert_non_null(strstr(r.body.at, "\"address\":\"127.0.0.1:"));
    wire_reply_done(&r);
    close(fd);
    http_host_stop(&h, USEC_PER_SEC);
}

static void leave_dead_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 1), 0);
    close(fd);
}

/* Tries to listen with a server of its own; the error, or "". */
static struct err try_unix(const char *path)
{
    struct http_server *s;
    struct err err = {0}, ignored;
    uv_loop_t loop;
    uv_loop_init(&loop);
    assert_int_equal(http_server_create(&loop, &with_token, &s, &ignored), 0);
    if (http_server_listen_unix(s, path, &err) == 0)
        assert_int_equal(err.code, ERR_OK);
    http_server_stop(s, 0, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return err;
}

static void assert_err(struct err err, enum err_code code, const char *words)
{
    if (err.code != code || !strstr(err.text, words))
        fail_msg("code %d, text '%s'; expected %d, '%s'", err.code, err.text, code, words);
}

static void test_file_in_the_way(void **state)
{
    struct http_host h;
    char path[160];
    (void)state;
    http_host_start(&h, plain);
    assert_err(try_unix(h.socket), ERR_CONFLICT, "already running at /tmp/");
    struct wire_reply r = wire_ask(&h, "GET /ok", "", NULL);
    assert_int_equal(r.status, 200);
    wire_reply_done(&r);
    snprintf(path, sizeof path, "%s/dead", h.dir);
    leave_dead_socket(path);
    assert_err(try_unix(path), ERR_OK, "");
    assert_int_equal(access(path, F_OK), -1);
    FILE *f = fopen(path, "w");
    fputs("precious", f);
    fclose(f);
    assert_err(try_unix(path), ERR_CONFLICT, "exists and is not a socket");
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/no/such/directory", h.dir);
    assert_err(try_unix(path), ERR_IO, "No such file or directory");
    memset(path, 'x', 120);
    path[120] = '\0';
    assert_err(try_unix(path), ERR_INVALID, "must have 1 to 107 bytes");
    assert_err(try_unix(""), ERR_INVALID, "must have 1 to 107 bytes");
    http_host_stop(&h, USEC_PER_SEC);
}

/* Somebody has put another file in the place of ours: it is left alone. */
static void test_file_replaced(void **state)
{
    struct http_host h;
    (void)state;
    http_host_start(&h, plain);
    assert_int_equal(unlink(h.socket), 0);
    leave_dead_socket(h.socket);
    http_host_begin_stop(&h, 0);
    pthread_join(h.thread, NULL);
    assert_int_equal(unlink(h.socket), 0);
    assert_int_equal(rmdir(h.dir), 0);
    uv_sem_destroy(&h.done);
    assert_int_equal(uv_loop_close(&h.loop), 0);
}

/* ---- TCP ------------------------------------------------------------------- */

static struct err try_open(const struct http_config *config, const char *where, unsigned *port,
                           bool *open)
{
    struct http_server *s;
    struct err err = {0}, ignored;
    uv_loop_t loop;
    uv_loop_init(&loop);
    assert_int_equal(http_server_create(&loop, config, &s, &ignored), 0);
    if (http_server_listen_tcp(s, where, port, open, &err) == 0)
        assert_int_equal(err.code, ERR_OK);
    http_server_stop(s, 0, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return err;
}

static struct err try_tcp(const struct http_config *config, const char *where, unsigned *port)
{
    return try_open(config, where, port, NULL);
}

/* Whether other machines can reach it. */
static void test_open_addresses(void **state)
{
    static const struct {
        const char *where;
        bool open;
    } cases[] = {{"127.0.0.1:0", false}, {"127.9.9.9:0", false}, {"localhost:0", false},
                 {":0", true},           {"0.0.0.0:0", true},    {"[::ffff:127.0.0.1]:0", false}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool open = !cases[i].open;
        assert_err(try_open(&with_token, cases[i].where, NULL, &open), ERR_OK, "");
        assert_int_equal(open, cases[i].open);
    }
}

static void test_addresses(void **state)
{
    struct http_host h;
    char taken[64];
    unsigned port = 0;
    (void)state;
    assert_err(try_tcp(&plain, "127.0.0.1:0", NULL), ERR_INVALID,
               "needs a way to know its clients");
    static const char *const bad[] = {"127.0.0.1",
                                      "8080",
                                      "127.0.0.1:",
                                      "127.0.0.1:x",
                                      "127.0.0.1:65536",
                                      "127.0.0.1:-1",
                                      "::1:80",
                                      "[::1]",
                                      ""};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_err(try_tcp(&with_token, bad[i], NULL), ERR_INVALID, bad[i]);
    assert_err(try_tcp(&with_token, "no.such.host.invalid:80", NULL), ERR_INVALID,
               "no.such.host.invalid");
    static const char *const good[] = {"127.0.0.1:0", "localhost:0", ":0", "0.0.0.0:0"};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        port = 0;
        assert_err(try_tcp(&with_token, good[i], &port), ERR_OK, "");
        assert_true(port > 1000);
    }
    http_host_start(&h, with_token);
    snprintf(taken, sizeof taken, "127.0.0.1:%u", h.port);
    assert_err(try_tcp(&with_token, taken, NULL), ERR_CONFLICT, "in use");
    http_host_stop(&h, USEC_PER_SEC);
}

static void test_ipv6(void **state)
{
    (void)state;
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0)
        SKIP("no IPv6");
    close(fd);
    unsigned port = 0;
    struct err err = try_tcp(&with_token, "[::1]:0", &port);
    if (err.code == ERR_IO)
        SKIP("no IPv6 loopback");
    assert_err(err, ERR_OK, "");
    assert_true(port > 1000);
}

static int ask_tcp(struct http_host *h, const char *line, const char *authorization)
{
    char text[512];
    int fd = wire_connect_tcp(h);
    snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: x\r\n%sContent-Length: 2\r\n\r\n{}", line,
             authorization);
    wire_send(fd, text);
    struct wire_reply r = wire_read_reply(fd, !strncmp(line, "HEAD", 4));
    if (r.status == 401) {
        assert_non_null(wire_header(&r, "WWW-Authenticate"));
        assert_null(strstr(r.body.at, "s3cret"));
    }
    int status = r.status;
    wire_reply_done(&r);
    close(fd);
    return status;
}

static void test_token(void **state)
{
    struct http_host h;
    (void)state;
    http_host_start(&h, with_token);
    assert_int_equal(ask_tcp(&h, "GET /ok", "Authorization: Bearer s3cret\r\n"), 200);
    assert_int_equal(ask_tcp(&h, "POST /ok", "Authorization: bearer s3cret\r\n"), 200);
    assert_int_equal(ask_tcp(&h, "GET /health", ""), 200);
    static const char *const wrong[] = {"",
                                        "Authorization: Bearer s3cre\r\n",
                                        "Authorization: Bearer s3crets\r\n",
                                        "Authorization: Bearer s3creT\r\n",
                                        "Authorization: Bearer \r\n",
                                        "Authorization: Bearer\r\n",
                                        "Authorization: Basic s3cret\r\n",
                                        "Authorization: s3cret\r\n"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_int_equal(ask_tcp(&h, "GET /ok", wrong[i]), 401);
        assert_int_equal(ask_tcp(&h, "POST /ok", wrong[i]), 401);
        assert_int_equal(ask_tcp(&h, "DELETE /ok", wrong[i]), 401);
        assert_int_equal(ask_tcp(&h, "OPTIONS /ok", wrong[i]), 401);
        assert_int_equal(ask_tcp(&h, "GET /nowhere", wrong[i]), 401);
    }
    assert_int_equal(ask_tcp(&h, "GET /nowhere", "Authorization: Bearer s3cret\r\n"), 404);
    http_host_stop(&h, USEC_PER_SEC);
}

static const struct CMUnitTest tests[] = {
    TEST(test_file),          TEST(test_peer),           TEST(test_file_in_the_way),
    TEST(test_file_replaced), TEST(test_open_addresses), TEST(test_addresses),
    TEST(test_ipv6),          TEST(test_token),
};

int main(void)
{
    return RUN(tests);
}
