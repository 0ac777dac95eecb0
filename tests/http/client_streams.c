/* Tests of the client's streams against the real server: events and bytes, their
 * end, and what ends them early. */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "http/client.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/stream.h"
#include "support/http_host.h"
#include "support/test.h"

static atomic_int closed_calls, waiting;

static void on_closed(struct stream *s, void *ctx)
{
    (void)s;
    (void)ctx;
    closed_calls++;
}

static const struct stream_ops ops = {NULL, on_closed};

/* Ten events from the one after Last-Event-ID, then the end. */
static void events(const struct request *q, struct reply *r, void *ctx)
{
    const char *last = request_header(q, "Last-Event-ID");
    bool endless = request_query(q, "endless") != NULL;
    int from = last ? atoi(last) + 1 : 1;
    struct stream *s = reply_events(r, &ops, ctx);
    for (int i = from; i < from + 10; i++) {
        char id[16], data[64];
        snprintf(id, sizeof id, "%d", i);
        snprintf(data, sizeof data, "{\"n\":%d}\nsecond line", i);
        stream_event(s, id, i % 2 ? "odd" : NULL, data);
    }
    if (!endless)
        stream_end(s);
}

static void bytes(const struct request *q, struct reply *r, void *ctx)
{
    bool endless = request_query(q, "endless") != NULL;
    struct stream *s = reply_stream(r, "text/plain", &ops, ctx);
    for (int i = 0; i < 1000; i++)
        stream_write(s, "0123456789", 10);
    if (!endless)
        stream_end(s);
}

/* Never answers. */
static void hang(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_defer(r, free, xmalloc(1));
    waiting++;
}

static void ok(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_text(r, 200, "application/json", "{}");
}

static const struct route routes[] = {
    {"GET", "/events", events, "events", false},
    {"GET", "/bytes", bytes, "bytes", false},
    {"GET", "/hang", hang, "hang", false},
    {"GET", "/ok", ok, "ok", false},
    {0},
};

static struct http_host host;
static atomic_bool stop_asked;

static bool stop_wanted(void *ctx)
{
    (void)ctx;
    return stop_asked;
}

static struct http_client *connect_to(struct http_client_config config)
{
    struct http_client *c;
    struct err err;
    assert_ok(http_client_create(&config, &c, &err), err);
    return c;
}

static void start_host(void)
{
    http_host_start(&host, (struct http_config){.routes = routes, .limits = {.comment_s = 1}});
    closed_calls = waiting = 0;
    stop_asked = false;
}

static int start(void **state)
{
    start_host();
    *state = connect_to(
        (struct http_client_config){.socket = host.socket, .timeout_s = 1, .stop = stop_wanted});
    return 0;
}

static int stop(void **state)
{
    http_client_free(*state);
    http_host_stop(&host, USEC_PER_SEC);
    return 0;
}

/* The client can be used for something else. */
static void assert_usable(struct http_client *c)
{
    struct err err;
    assert_ok(http_client_json(c, "GET", "/ok", NULL, NULL, &err), err);
}

/* ---- to the end ------------------------------------------------------------ */

struct seen {
    int events, stop_at;
    size_t bytes;
    char last[32];
};

static int on_event(void *ctx, const struct sse_event *e)
{
    struct seen *seen = ctx;
    char data[64];
    int n = atoi(e->id);
    snprintf(data, sizeof data, "{\"n\":%d}\nsecond line", n);
    assert_string_equal(e->data, data);
    assert_string_equal(e->event, n % 2 ? "odd" : "message");
    snprintf(seen->last, sizeof seen->last, "%s", e->id);
    return ++seen->events == seen->stop_at ? 5 : 0;
}

static int on_bytes(void *ctx, const char *chunk, size_t n)
{
    struct seen *seen = ctx;
    (void)chunk;
    seen->bytes += n;
    return seen->stop_at && seen->bytes >= (size_t)seen->stop_at ? 6 : 0;
}

static void test_events(void **state)
{
    struct seen seen = {0};
    struct err err;
    assert_ok(http_client_events(*state, "/events", NULL, on_event, &seen, &err), err);
    assert_int_equal(seen.events, 10);
    assert_ok(http_client_events(*state, "/events", seen.last, on_event, &seen, &err), err);
    assert_string_equal(seen.last, "20");
    seen = (struct seen){.stop_at = 3};
    assert_int_equal(http_client_events(*state, "/events?endless", NULL, on_event, &seen, &err), 5);
    assert_int_equal(seen.events, 3);
    wait_for(closed_calls == 1);
    assert_error(http_client_events(*state, "/nowhere", NULL, on_event, &seen, &err), err,
                 ERR_NOT_FOUND, "nothing at /nowhere");
    assert_usable(*state);
}

static void test_bytes(void **state)
{
    struct seen seen = {0};
    struct err err;
    assert_ok(http_client_stream(*state, "/bytes", on_bytes, &seen, &err), err);
    assert_int_equal(seen.bytes, 10000);
    seen = (struct seen){.stop_at = 10000};
    assert_int_equal(http_client_stream(*state, "/bytes?endless", on_bytes, &seen, &err), 6);
    wait_for(closed_calls == 1);
    assert_error(http_client_stream(*state, "/nowhere", on_bytes, &seen, &err), err, ERR_NOT_FOUND,
                 "nothing at /nowhere");
    assert_usable(*state);
}

static int until_two_comments(void *ctx, const char *chunk, size_t n)
{
    int *comments = ctx;
    for (const char *p = chunk, *end = chunk + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        *comments += p > chunk && p[-1] == ' ';
    return *comments >= 2 ? 7 : 0;
}

/* A request must be answered within a second here; a stream may go on for longer:
 * comments come every second. */
static void test_no_time_out(void **state)
{
    struct err err;
    int comments = 0;
    assert_error(http_client_json(*state, "GET", "/hang", NULL, NULL, &err), err, ERR_UNREACHABLE,
                 "does not answer");
    assert_int_equal(
        http_client_stream(*state, "/events?endless", until_two_comments, &comments, &err), 7);
}

/* ---- interrupted ----------------------------------------------------------- */

static void on_signal(int number)
{
    (void)number;
    stop_asked = true;
}

static void *send_signal(void *arg)
{
    wait_for(waiting);
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    return NULL;
}

/* The tenth event tells the other thread to send the signal. */
static int tell_at_ten(void *ctx, const struct sse_event *e)
{
    int rc = on_event(ctx, e);
    waiting += ((struct seen *)ctx)->events == 10;
    return rc;
}

/* A signal, whose handler makes `stop` say so, ends a stream that would go on for
 * ever, and a request that is not answered. */
static void test_interrupt(void **state)
{
    struct seen seen = {0};
    struct err err;
    pthread_t me = pthread_self(), other;
    struct http_client *patient = connect_to(
        (struct http_client_config){.socket = host.socket, .timeout_s = 3600, .stop = stop_wanted});
    signal(SIGUSR1, on_signal);
    pthread_create(&other, NULL, send_signal, &me);
    assert_error(http_client_events(*state, "/events?endless", NULL, tell_at_ten, &seen, &err), err,
                 ERR_IO, "interrupted");
    assert_int_equal(seen.events, 10);
    pthread_join(other, NULL);
    stop_asked = false;
    waiting = 0;
    pthread_create(&other, NULL, send_signal, &me);
    assert_error(http_client_json(patient, "GET", "/hang", NULL, NULL, &err), err, ERR_IO,
                 "interrupted");
    pthread_join(other, NULL);
    stop_asked = false;
    assert_usable(patient);
    http_client_free(patient);
}

/* ---- without the server ---------------------------------------------------- */

static void *stop_host(void *arg)
{
    (void)arg;
    wait_for(waiting);
    http_host_stop(&host, USEC_PER_SEC);
    return NULL;
}

static int tell_and_count(void *ctx, const char *chunk, size_t n)
{
    waiting++;
    return on_bytes(ctx, chunk, n);
}

/* The server goes away: a byte stream breaks off, an event stream comes to its end. */
static void test_server_stops(void **state)
{
    struct seen seen = {0};
    struct err err;
    pthread_t thread;
    (void)state;
    for (int i = 0; i < 2; i++) {
        start_host();
        struct http_client *c = connect_to((struct http_client_config){.socket = host.socket});
        pthread_create(&thread, NULL, stop_host, NULL);
        if (i)
            assert_error(http_client_stream(c, "/bytes?endless", tell_and_count, &seen, &err), err,
                         ERR_UNREACHABLE, "closed the connection");
        else
            assert_ok(http_client_events(c, "/events?endless", NULL, tell_at_ten, &seen, &err),
                      err);
        pthread_join(thread, NULL);
        assert_error(http_client_json(c, "GET", "/ok", NULL, NULL, &err), err, ERR_UNREACHABLE,
                     host.socket);
        http_client_free(c);
    }
}

#define HOSTED(f) cmocka_unit_test_setup_teardown(f, start, stop)

static const struct CMUnitTest tests[] = {
    HOSTED(test_events),    HOSTED(test_bytes),      HOSTED(test_no_time_out),
    HOSTED(test_interrupt), TEST(test_server_stops),
};

int main(void)
{
    return RUN(tests);
}
