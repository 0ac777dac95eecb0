/* Tests of many connections, of too many, and of none: an idle server sleeps. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "http/reply.h"
#include "http/request.h"
#include "http/stream.h"
#include "support/http_host.h"
#include "support/test.h"

static void ok(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_text(r, 200, "text/plain", "ok");
}

static atomic_int waiting;

static void wait_for_ever(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_defer(r, free, xmalloc(1));
    waiting++;
}

static void events(const struct request *q, struct reply *r, void *ctx)
{
    static const struct stream_ops none = {0};
    (void)q;
    reply_events(r, &none, ctx);
    waiting++;
}

static const struct route routes[] = {
    {"GET", "/ok", ok, "ok", false},
    {"GET", "/wait", wait_for_ever, "wait", false},
    {"GET", "/events", events, "events", false},
    {0},
};

#define GET_OK "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"

/* ---- too many -------------------------------------------------------------- */

#define MANY 1000

static void ask_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        wire_send(fds[i], GET_OK);
    for (int i = 0; i < n; i++) {
        struct wire_reply r = wire_read_reply(fds[i], false);
        assert_string_equal(r.body.at, "ok");
        wire_reply_done(&r);
    }
}

static void test_many_connections(void **state)
{
    struct http_host h;
    struct rlimit files;
    int fds[MANY];
    char c;
    (void)state;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < 2 * MANY + 100)
        SKIP("fewer than 2100 file descriptors");
    http_host_start(&h,
                    (struct http_config){.routes = routes, .limits = {.peer_connections = MANY}});
    for (int i = 0; i < MANY; i++)
        fds[i] = wire_connect(&h);
    ask_all(fds, MANY);
    /* One more waits until another leaves, while the others are served. */
    int late = wire_connect(&h);
    wire_send(late, GET_OK);
    ask_all(fds, MANY);
    ask_all(fds, MANY);
    assert_int_equal(recv(late, &c, 1, MSG_DONTWAIT), -1);
    close(fds[0]);
    free(wire_read_until(late, "\r\n\r\nok"));
    for (int i = 1; i < MANY; i++)
        close(fds[i]);
    close(late);
    http_host_stop(&h, USEC_PER_SEC);
}

/* One process, or one address, cannot have all of them. */
static void test_one_peer(void **state)
{
    enum { MOST = 10 };
    struct http_host h;
    int fds[MOST];
    (void)state;
    http_host_start(&h, (struct http_config){.routes = routes,
                                             .identify = http_host_knows,
                                             .limits = {.peer_connections = MOST}});
    for (int tcp = 0; tcp < 2; tcp++) {
        for (int i = 0; i < MOST; i++)
            fds[i] = tcp ? wire_connect_tcp(&h) : wire_connect(&h);
        int late = tcp ? wire_connect_tcp(&h) : wire_connect(&h);
        AUTO_FREE char *refusal = wire_read_end(late);
        assert_non_null(strstr(refusal, "503 Service Unavailable"));
        close(late);
        if (!tcp)
            ask_all(fds, MOST);
        for (int i = 0; i < MOST; i++)
            close(fds[i]);
    }
    http_host_stop(&h, USEC_PER_SEC);
}

#define GET_WITH_TOKEN "GET /ok HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer s3cret\r\n\r\n"

/* Those who only connect make room for those who have the token, and for nobody else. */
static void test_strangers(void **state)
{
    enum { MOST = 5, IDLE = 20 };
    struct http_host h;
    int idle[IDLE];
    (void)state;
    http_host_start(&h, (struct http_config){.routes = routes,
                                             .identify = http_host_knows,
                                             .limits = {.strangers = MOST}});
    int known = wire_connect_tcp(&h);
    wire_send(known, GET_WITH_TOKEN);
    free(wire_read_until(known, "\r\n\r\nok"));
    for (int i = 0; i < IDLE; i++)
        idle[i] = wire_connect_tcp(&h);
    for (int i = 0; i < IDLE - MOST; i++)
        assert_true(wire_closed(idle[i]));
    wire_send(idle[IDLE - 1], GET_WITH_TOKEN);
    free(wire_read_until(idle[IDLE - 1], "\r\n\r\nok"));
    wire_send(known, GET_WITH_TOKEN);
    free(wire_read_until(known, "\r\n\r\nok"));
    for (int i = 0; i < IDLE; i++)
        close(idle[i]);
    close(known);
    http_host_stop(&h, USEC_PER_SEC);
}

static double cpu_seconds(const struct http_host *h)
{
    clockid_t clock;
    struct timespec t;
    assert_int_equal(pthread_getcpuclockid(h->thread, &clock), 0);
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Nothing happens for so long, for a look at what the server does then. */
static void pass_time(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds,
                         .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* With no descriptor left the server neither spins nor forgets who waits. */
static void test_no_descriptors(void **state)
{
    enum { CLIENTS = 30, ROOM = 5 };
    struct http_host h;
    struct rlimit before, tight;
    int fds[CLIENTS];
    (void)state;
    http_host_start(&h, (struct http_config){.routes = routes, .limits = {.request_s = 1}});
    for (int i = 0; i < CLIENTS; i++)
        fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
    getrlimit(RLIMIT_NOFILE, &before);
    tight = before;
    tight.rlim_cur = (rlim_t)fds[CLIENTS - 1] + 1 + ROOM;
    setrlimit(RLIMIT_NOFILE, &tight);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path, h.socket);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(connect(fds[i], (struct sockaddr *)&a, sizeof a), 0);
    double used = cpu_seconds(&h);
    pass_time(0.5);
    assert_true(cpu_seconds(&h) - used < 0.2);
    for (int i = 0; i < CLIENTS; i++) {
        wire_send(fds[i], "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        AUTO_FREE char *reply = wire_read_end(fds[i]);
        assert_non_null(strstr(reply, "\r\n\r\nok"));
    }
    setrlimit(RLIMIT_NOFILE, &before);
    for (int i = 0; i < CLIENTS; i++)
        close(fds[i]);
    http_host_stop(&h, USEC_PER_SEC);
}

/* ---- nothing to do --------------------------------------------------------- */

static pid_t server_thread;

static void note_thread(struct http_host *h)
{
    (void)h;
    server_thread = (pid_t)syscall(SYS_gettid);
}

/* How often the server's thread has gone to sleep so far. */
static long sleeps(void)
{
    char path[64], line[128];
    long n = -1;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)server_thread);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        sscanf(line, "voluntary_ctxt_switches: %ld", &n);
    fclose(f);
    assert_true(n >= 0);
    return n;
}

/* It comes to rest, and then sleeps without a break. */
static void assert_sleeps(void)
{
    long before = -1;
    for (int i = 0; i < 100 && before != sleeps(); i++) {
        before = sleeps();
        pass_time(0.3);
    }
    pass_time(2);
    assert_int_equal(sleeps(), before);
}

static void test_idle(void **state)
{
    struct http_host h;
    (void)state;
    http_host_start(&h, (struct http_config){.routes = routes, .limits = {.comment_s = 3600}});
    http_host_do(&h, note_thread);
    assert_sleeps();
    waiting = 0;
    int a = wire_connect(&h), b = wire_connect(&h), c = wire_connect(&h);
    wire_send(a, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    wire_send(b, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    wire_send(c, GET_OK);
    free(wire_read_until(c, "\r\n\r\nok"));
    wait_for(waiting == 2);
    close(c);
    assert_sleeps();
    close(a);
    close(b);
    http_host_stop(&h, USEC_PER_SEC);
}

static const struct CMUnitTest tests[] = {
    TEST(test_many_connections), TEST(test_one_peer), TEST(test_strangers),
    TEST(test_no_descriptors),   TEST(test_idle),
};

int main(void)
{
    return RUN(tests);
}
