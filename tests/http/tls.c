/* Tests of TLS: a certificate that the server makes, one that is given, and a change of the
 * certificate while connections are open. */
#include "http/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/client.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/stream.h"
#include "support/http_host.h"
#include "support/test.h"

static const char *const names[] = {"localhost", "127.0.0.1"};

static struct {
    char dir[32], chain[64], key[64];
} files;

static void name_files(void)
{
    strcpy(files.dir, "/tmp/trainyard-tls-XXXXXX");
    assert_non_null(mkdtemp(files.dir));
    snprintf(files.chain, sizeof files.chain, "%s/cert.pem", files.dir);
    snprintf(files.key, sizeof files.key, "%s/key.pem", files.dir);
}

static void remove_files(void)
{
    unlink(files.chain);
    unlink(files.key);
    assert_int_equal(rmdir(files.dir), 0);
}

static struct tls_certificate make_certificate(void)
{
    struct tls_certificate c;
    struct err err;
    assert_ok(tls_certificate_make(files.chain, files.key, names, 2, &err), err);
    assert_ok(tls_certificate_read(files.chain, files.key, &c, &err), err);
    return c;
}

static void test_making(void **state)
{
    struct stat st;
    struct err err;
    (void)state;
    name_files();
    struct tls_certificate first = make_certificate();
    assert_int_equal(stat(files.key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_memory_equal(first.pin, "sha256//", 8);
    assert_int_equal(strlen(first.pin), 8 + 44);
    /* What exists is kept. */
    struct tls_certificate again = make_certificate();
    assert_string_equal(again.pin, first.pin);
    assert_string_equal(again.chain, first.chain);
    tls_certificate_done(&again);
    tls_certificate_done(&first);
    assert_error(tls_certificate_make("/nowhere/cert", "/nowhere/key", names, 2, &err), err, ERR_IO,
                 "cannot write /nowhere/key");
    remove_files();
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_unusable(void **state)
{
    struct tls_certificate c;
    struct err err;
    (void)state;
    name_files();
    assert_error(tls_certificate_read(files.chain, files.key, &c, &err), err, ERR_INVALID,
                 "cert.pem: No such file");
    struct tls_certificate one = make_certificate();
    unlink(files.key);
    struct tls_certificate two = make_certificate();
    assert_string_not_equal(one.pin, two.pin);
    write_text(files.chain, one.chain);
    assert_error(tls_certificate_read(files.chain, files.key, &c, &err), err, ERR_INVALID,
                 "cannot be used together");
    write_text(files.chain, "no certificate\n");
    assert_error(tls_certificate_read(files.chain, files.key, &c, &err), err, ERR_INVALID,
                 "cert.pem");
    tls_certificate_done(&one);
    tls_certificate_done(&two);
    remove_files();
}

/* ---- a server -------------------------------------------------------------- */

static struct http_host host;
static struct tls_certificate used;
static struct stream *open_stream;

static void say_hello(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    reply_text(r, 200, "text/plain", q->peer->tls ? "safe" : "plain");
}

static void on_drained(struct stream *s, void *ctx)
{
    (void)s;
    (void)ctx;
}

static void on_closed(struct stream *s, void *ctx)
{
    (void)s;
    (void)ctx;
    open_stream = NULL;
}

static void follow(const struct request *q, struct reply *r, void *ctx)
{
    static const struct stream_ops ops = {on_drained, on_closed};
    (void)q;
    (void)ctx;
    open_stream = reply_events(r, &ops, NULL);
}

static const struct route routes[] = {
    {"GET", "/hello", say_hello, "hello", false}, {"GET", "/events", follow, "events", false}, {0}};

static void use(struct http_host *h)
{
    struct err err;
    assert_ok(http_server_use_certificate(h->server, &used, &err), err);
}

static struct http_client *connect_with(const char *pin)
{
    char url[64];
    struct http_client *c;
    struct err err;
    snprintf(url, sizeof url, "https://127.0.0.1:%u", host.port);
    assert_ok(
        http_client_create(&(struct http_client_config){.url = url, .token = "s3cret", .pin = pin},
                           &c, &err),
        err);
    return c;
}

static void assert_hello(struct http_client *c, const char *want)
{
    struct http_answer a;
    struct err err;
    assert_ok(http_client_send(c, "GET", "/hello", NULL, NULL, 0, &a, &err), err);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.at, want);
    http_answer_done(&a);
}

static void assert_refused(const char *pin, enum err_code code, const char *text)
{
    struct http_client *c = connect_with(pin);
    struct http_answer a;
    struct err err;
    assert_error(http_client_send(c, "GET", "/hello", NULL, NULL, 0, &a, &err), err, code, text);
    http_client_free(c);
}

static void send_event(struct http_host *h)
{
    (void)h;
    assert_non_null(open_stream);
    stream_event(open_stream, "1", "news", "{}");
}

static void *send_later(void *arg)
{
    struct http_host *h = arg;
    http_host_do(h, send_event);
    return NULL;
}

/* Called for the first event: there is another certificate by then, and the stream goes on. */
static int on_event(void *ctx, const struct sse_event *event)
{
    int *seen = ctx;
    (void)event;
    return ++*seen == 2;
}

static bool opened(void *ctx)
{
    static pthread_t later;
    int *step = ctx;
    if (*step == 0 && open_stream) {
        *step = 1;
        http_host_do(&host, use);
        http_host_do(&host, send_event);
        pthread_create(&later, NULL, send_later, &host);
        pthread_detach(later);
    }
    return false;
}

/* A stream that began with the old certificate goes on after a change to the new one. */
static void follow_through_change(const char *old)
{
    int seen = 0, step = 0;
    char url[64];
    struct http_client *c;
    struct err err;
    snprintf(url, sizeof url, "https://127.0.0.1:%u", host.port);
    assert_ok(http_client_create(
                  &(struct http_client_config){
                      .url = url, .token = "s3cret", .pin = old, .stop = opened, .ctx = &step},
                  &c, &err),
              err);
    assert_int_equal(http_client_events(c, "/events", NULL, on_event, &seen, &err), 1);
    assert_int_equal(seen, 2);
    http_client_free(c);
}

static void test_server(void **state)
{
    struct err err;
    char old[TLS_PIN_SIZE];
    (void)state;
    name_files();
    http_host_start(&host, (struct http_config){.routes = routes, .identify = http_host_knows});
    used = make_certificate();
    http_host_do(&host, use);
    struct http_client *c = connect_with(used.pin);
    assert_hello(c, "safe");
    assert_refused(NULL, ERR_DENIED, "TRAINYARD_FINGERPRINT");
    assert_refused("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", ERR_DENIED,
                   "not the one whose fingerprint you have");
    strcpy(old, used.pin);
    tls_certificate_done(&used);
    unlink(files.key);
    used = make_certificate();
    follow_through_change(old);
    assert_hello(c, "safe"); /* on the connection that was open */
    assert_refused(old, ERR_DENIED, "not the one whose fingerprint you have");
    struct http_client *next = connect_with(used.pin);
    assert_hello(next, "safe");
    http_client_free(next);
    http_client_free(c);
    /* The unix socket needs no TLS. */
    assert_ok(http_client_create(&(struct http_client_config){.socket = host.socket}, &c, &err),
              err);
    assert_hello(c, "plain");
    http_client_free(c);
    http_host_stop(&host, USEC_PER_SEC);
    tls_certificate_done(&used);
    remove_files();
}

static const struct CMUnitTest tests[] = {TEST(test_making), TEST(test_unusable),
                                          TEST(test_server)};

int main(void)
{
    return RUN(tests);
}
