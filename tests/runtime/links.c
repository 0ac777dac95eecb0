/* The conductors' socket of the local runtime, with clients that speak to it over the real
 * socket. Loop and clients are in one thread: each wait lets the loop run. */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "protocol/lines.h"
#include "runtime/runtime.h"
#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

static const struct runtime_ops *const ops = &runtime_local;

struct fixture {
    char dir[64];
    uv_loop_t loop;
    struct runtime_host side;
    struct runtime *r;
    unsigned messages, lost;
    enum to_server_kind kind;  /* of the last message */
    int64_t job;               /* in the last hello */
    struct runtime_link *link; /* of the last message */
    bool unlinks;              /* ends the link of each message */
};

static usec_t read_now(const struct runtime_host *side)
{
    (void)side;
    return 0;
}

static void take_node(struct runtime_host *side, struct runtime *r, const struct runtime_node *n)
{
    (void)side, (void)r, (void)n;
}

static void take_message(struct runtime_host *side, struct runtime_link *link,
                         const struct to_server *m)
{
    struct fixture *f = side->ctx;
    f->messages++;
    f->kind = m->kind;
    f->link = link;
    if (m->kind == TO_SERVER_HELLO)
        f->job = m->hello.job;
    if (f->unlinks)
        ops->unlink(link->runtime, link);
}

static void lose_link(struct runtime_host *side, struct runtime_link *link)
{
    struct fixture *f = side->ctx;
    assert_ptr_equal(link->runtime, f->r);
    f->lost++;
}

static int open_server(struct fixture *f, const char *run_dir, struct err *err)
{
    f->side = (struct runtime_host){.ctx = f,
                                    .loop = &f->loop,
                                    .state_dir = f->dir,
                                    .run_dir = run_dir,
                                    .now = read_now,
                                    .node = take_node,
                                    .message = take_message,
                                    .unlinked = lose_link};
    runtime_host_init(&f->side);
    return ops->open(&f->side, NULL, &f->r, err);
}

static void begin(struct fixture *f)
{
    struct err err;
    *f = (struct fixture){.dir = "/tmp/trainyard-test.XXXXXX"};
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_ok(open_server(f, f->dir, &err), err);
}

static void socket_path(const struct fixture *f, char *out, size_t size)
{
    snprintf(out, size, "%s/conductor.sock", f->dir);
}

/* Nothing of it is left: no handle in the loop, no file. */
static void end(struct fixture *f)
{
    char path[128];
    ops->close(f->r);
    assert_int_equal(uv_run(&f->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    socket_path(f, path, sizeof path);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rmdir(f->dir), 0);
}

#define loop_until(f, condition) host_until((uv_run(&(f)->loop, UV_RUN_NOWAIT), (condition)))

/* ---- a conductor ---------------------------------------------------------------- */

static int connect_to(const struct fixture *f)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    socket_path(f, to.sun_path, sizeof to.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static const char hello[] =
    "{\"type\":\"hello\",\"version\":2,\"job\":7,\"attempt\":1,\"token\":\"t\",\"pid\":1,"
    "\"started_us\":0,\"seq\":0,\"cpus\":1}\n";

/* A link whose hello has arrived; the conductor's end of it. */
static int greet(struct fixture *f)
{
    int fd = connect_to(f);
    unsigned before = f->messages;
    say(fd, hello);
    loop_until(f, f->messages > before);
    assert_int_equal(f->kind, TO_SERVER_HELLO);
    return fd;
}

/* The next bytes that the conductor gets; "" = the connection has ended. */
static const char *hear(struct fixture *f, int fd)
{
    static char text[4096];
    ssize_t n = -1;
    loop_until(f, (n = read(fd, text, sizeof text - 1)) >= 0);
    text[n] = '\0';
    return text;
}

/* ---- tests ---------------------------------------------------------------------- */

static void test_messages_go_both_ways(void **state)
{
    (void)state;
    struct fixture f;
    struct stat st;
    char path[128];
    struct to_conductor welcome = {
        .kind = TO_CONDUCTOR_WELCOME, .id = -1, .welcome = {PROTOCOL_VERSION, 5}};
    begin(&f);
    socket_path(&f, path, sizeof path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    int fd = connect_to(&f);
    assert_int_equal(write(fd, hello, 20), 20);
    for (unsigned i = 0; i < 10; i++)
        uv_run(&f.loop, UV_RUN_NOWAIT);
    assert_int_equal(f.messages, 0);
    say(fd, hello + 20);
    loop_until(&f, f.messages == 1);
    assert_int_equal(f.job, 7);
    ops->send(f.r, f.link, &welcome);
    assert_non_null(strstr(hear(&f, fd), "\"welcome\""));
    say(fd, "{\"type\":\"started\",\"pid\":1,\"at_us\":1}\n{\"type\":\"ok\",\"id\":1}\n");
    loop_until(&f, f.messages == 3);
    assert_int_equal(f.kind, TO_SERVER_OK);
    close(fd);
    loop_until(&f, f.lost == 1);
    end(&f);
}

static void test_what_is_not_a_message_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    AUTO_FREE char *endless = xmalloc(MESSAGE_MAX_BYTES + 1);
    memset(endless, 'x', MESSAGE_MAX_BYTES);
    endless[MESSAGE_MAX_BYTES] = '\0';
    const char *const bad[] = {"nonsense\n", "[]\n", "\n", endless};
    begin(&f);
    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        int fd = greet(&f);
        say(fd, bad[i]);
        assert_non_null(strstr(hear(&f, fd), "\"refused\""));
        assert_string_equal(hear(&f, fd), "");
        assert_int_equal(f.lost, i + 1);
        close(fd);
    }
    assert_int_equal(f.messages, COUNT_OF(bad));
    end(&f);
}

/* Not even when that happens while its lines are being read. */
static void test_an_unlinked_conductor_is_heard_no_more(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    int fd = greet(&f);
    f.unlinks = true;
    say(fd, "{\"type\":\"ok\",\"id\":1}\n{\"type\":\"ok\",\"id\":2}\n");
    assert_string_equal(hear(&f, fd), "");
    assert_int_equal(f.messages, 2);
    assert_int_equal(f.lost, 0);
    close(fd);
    end(&f);
}

/* With more to write than they have read, and one that is gone. */
static void test_the_server_may_close_at_any_time(void **state)
{
    (void)state;
    struct fixture f;
    char text[1000];
    struct to_conductor refused = {.kind = TO_CONDUCTOR_REFUSED, .id = -1, .refused = {text}};
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    begin(&f);
    int slow = greet(&f);
    for (unsigned i = 0; i < 2000; i++)
        ops->send(f.r, f.link, &refused);
    int gone = greet(&f);
    close(gone);
    for (unsigned i = 0; i < 10; i++)
        ops->send(f.r, f.link, &refused);
    end(&f);
    assert_int_equal(f.lost, 0);
    close(slow);
}

/* As after a turn that was undone: the next runtime listens before the loop has run. */
static void test_another_server_listens_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    begin(&f);
    int fd = greet(&f);
    ops->close(f.r);
    assert_ok(open_server(&f, f.dir, &err), err);
    assert_string_equal(hear(&f, fd), "");
    close(fd);
    close(greet(&f));
    loop_until(&f, f.lost == 1);
    end(&f);
}

static void test_a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    char run_dir[200];
    begin(&f);
    ops->close(f.r);
    memset(run_dir, 'x', sizeof run_dir - 1);
    run_dir[0] = '/';
    run_dir[sizeof run_dir - 1] = '\0';
    assert_error(open_server(&f, run_dir, &err), err, ERR_LIMIT, "shorter run directory");
    assert_error(open_server(&f, "/nowhere/at/all", &err), err, ERR_IO, "/nowhere/at/all");
    assert_ok(open_server(&f, f.dir, &err), err);
    end(&f);
}

static const struct CMUnitTest tests[] = {
    TEST(test_messages_go_both_ways),
    TEST(test_what_is_not_a_message_is_refused),
    TEST(test_an_unlinked_conductor_is_heard_no_more),
    TEST(test_the_server_may_close_at_any_time),
    TEST(test_another_server_listens_at_once),
    TEST(test_a_path_that_is_too_long_is_refused),
};

int main(int argc, char **argv)
{
    conduct_if_asked(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    return RUN(tests);
}
