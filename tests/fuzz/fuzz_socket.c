/* Fuzzes HTTP over real sockets, to a whole server on the fake runtime: the input is what a client
 * sends, all of it or in pieces, on the unix socket or by TCP. Whatever it is, the server answers
 * with HTTP or closes the connection, never with an internal error, and it answers the next
 * client.
 *
 * The first byte chooses the socket and the size of the pieces. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/str.h"
#include "http/listen.h"
#include "http/server.h"
#include "server/access.h"
#include "server/api/api.h"
#include "support/stage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUTS_MOST = 300, IDLE_MOST = 8, REPLY_MOST = 1 << 22 };

static struct stage w;
static uv_loop_t loop;
static struct api *api;
static struct http_server *server;
static unsigned inputs, port;
static char path[96];

static void require(bool truth)
{
    if (!truth)
        abort();
}

/* ---- the server --------------------------------------------------------------- */

static void run_once(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
    turn_end(w.y);
}

static void end_server(void)
{
    http_server_stop(server, 0, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    api_free(api);
    stage_end(&w);
    uv_run(&loop, UV_RUN_DEFAULT);
    require(uv_loop_close(&loop) == 0);
}

static void begin_server(void)
{
    static const struct fake_options two_nodes = {
        .seed = 1, .nodes = 2, .cpus = 4 * UNIT, .memory_mb = 8192, .report = 10 * USEC_PER_SEC};
    struct err err;
    if (inputs++ % INPUTS_MOST)
        return;
    if (server)
        end_server();
    else
        atexit(end_server);
    signal(SIGPIPE, SIG_IGN);
    stage_begin(&w, &two_nodes, "elastic-fifo");
    require(uv_loop_init(&loop) == 0);
    w.loop = &loop;
    stage_start(&w);
    stage_submit(&w, "{'command': ['fake', 'work=100000', 'steps=100'], 'cpus': '1-2'}");
    stage_submit(&w, "{'command': ['fake', 'work=1'], 'array': '1-9%2'}");
    stage_run(&w, 60 * USEC_PER_SEC);
    api = api_create(w.y);
    require(access_open(w.y, "0123456789abcdef", &err) == 0);
    struct http_config config = {
        .routes = api->routes, .ctx = api, .identify = api_identify, .served = api_served};
    snprintf(path, sizeof path, "%s/s", w.dir);
    require(http_server_create(&loop, &config, &server, &err) == 0);
    require(http_server_listen_unix(server, path, &err) == 0);
    require(http_server_listen_tcp(server, "127.0.0.1:0", &port, NULL, &err) == 0);
}

/* ---- a client ----------------------------------------------------------------- */

static int connect_client(bool tcp)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in remote = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct linger none = {.l_onoff = 1}; /* no port is kept after the end */
    int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(local.sun_path, path);
    inet_pton(AF_INET, "127.0.0.1", &remote.sin_addr);
    require(fd >= 0);
    require(connect(fd, tcp ? (void *)&remote : (void *)&local,
                    tcp ? sizeof remote : sizeof local) == 0);
    if (tcp)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    return fd;
}

/* Reads what there is; false at the end. */
static bool read_reply(int fd, struct str *reply, bool *more)
{
    char buf[16384];
    ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
    *more = n > 0;
    if (n > 0 && reply->n < REPLY_MOST)
        str_add_n(reply, buf, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

/* Sends all, and takes what comes until the server closes or has no more to say. */
static void talk(int fd, const char *bytes, size_t n, size_t piece, struct str *reply)
{
    for (unsigned idle = 0; idle < IDLE_MOST; idle++) {
        size_t part = n < piece ? n : piece;
        ssize_t sent = part ? send(fd, bytes, part, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        bool more;
        if (sent > 0) {
            bytes += sent;
            n -= (size_t)sent;
        }
        run_once();
        if (!read_reply(fd, reply, &more))
            return;
        if (more || sent > 0)
            idle = 0;
    }
}

static void check_reply(const struct str *reply)
{
    int status = 0;
    if (!reply->n)
        return;
    require(sscanf(reply->at, "HTTP/1.%*1[01] %3d", &status) == 1);
    require(status >= 200 && status < 600 && status != 500);
}

static void expect_service(void)
{
    static const char text[] = "GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n";
    struct str reply = {0};
    int fd = connect_client(false);
    talk(fd, text, sizeof text - 1, sizeof text, &reply);
    close(fd);
    run_once();
    require(reply.n > 12 && (!memcmp(reply.at, "HTTP/1.1 200", 12)));
    str_done(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str reply = {0};
    if (size < 1)
        return 0;
    begin_server();
    int fd = connect_client(data[0] & 1);
    talk(fd, (const char *)data + 1, size - 1, data[0] & 2 ? 1 + size / 8 : size, &reply);
    close(fd);
    run_once();
    check_reply(&reply);
    str_done(&reply);
    if (inputs % 16 == 0)
        expect_service();
    return 0;
}
