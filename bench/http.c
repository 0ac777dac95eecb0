/* Requests per second and latency of the HTTP layer: a server process that
 * answers with a small JSON object, and a client that keeps several connections busy,
 * with one request on each. Both share the machine. The CPU time of the server per
 * request and its memory when idle are printed as well. */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "http/listen.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/server.h"
#include "http/token.h"

enum { REQUESTS = 100000, MOST_CONNECTIONS = 256 };

/* ---- the server ------------------------------------------------------------ */

static struct {
    uv_loop_t loop;
    uv_prepare_t commit;
    VEC(struct reply *) deferred;
} yard;

static json_t *job(const char *id)
{
    return json_pack("{sssssssisfsfs{sfsi}}", "id", id, "name", "resnet-50", "state", "running",
                     "attempt", 1, "cpus", 2.0, "progress", 0.25, "usage", "cpu_seconds", 12.5,
                     "memory_bytes", 123456789);
}

static void show(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    reply_json(r, 200, job(request_param(q, "id")));
}

/* Answers at the end of the loop's turn, as after a commit. */
static void submit(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_defer(r, NULL, NULL);
    VEC_PUSH(&yard.deferred, r);
}

static void on_commit(uv_prepare_t *handle)
{
    (void)handle;
    for (size_t i = 0; i < yard.deferred.n; i++)
        reply_json(yard.deferred.at[i], 201, job("17"));
    yard.deferred.n = 0;
}

static const struct route routes[] = {
    {"GET", "/api/v1/nodes", show, "nodes", false},
    {"GET", "/api/v1/policies", show, "policies", false},
    {"GET", "/api/v1/jobs", show, "list", false},
    {"POST", "/api/v1/jobs", submit, "submit", false},
    {"GET", "/api/v1/jobs/{id}/logs", show, "logs", false},
    {"GET", "/api/v1/jobs/{id}", show, "show", false},
    {0},
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static bool knows_secret(void *ctx, const struct request *request, struct caller *caller)
{
    const char *token = token_bearer(request);
    (void)ctx;
    (void)caller;
    return token && !strcmp(token, "secret");
}

static void serve(const char *path, int ready)
{
    struct http_config config = {.routes = routes, .identify = knows_secret};
    struct http_server *server;
    struct err err;
    unsigned port;
    uv_loop_init(&yard.loop);
    if (http_server_create(&yard.loop, &config, &server, &err) < 0 ||
        http_server_listen_unix(server, path, &err) < 0 ||
        http_server_listen_tcp(server, "127.0.0.1:0", &port, NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    uv_prepare_init(&yard.loop, &yard.commit);
    uv_prepare_start(&yard.commit, on_commit);
    if (write(ready, &port, sizeof port) != sizeof port)
        die("write");
    uv_run(&yard.loop, UV_RUN_DEFAULT);
}

/* Resident memory in kB: total, and the part not shared with other programs. */
static void memory(pid_t pid, long *rss, long *own)
{
    char path[64], line[128];
    long value;
    *rss = *own = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "Rss: %ld", &value) == 1)
            *rss = value;
        if (sscanf(line, "Private_Dirty: %ld", &value) == 1)
            *own = value;
    }
    if (f)
        fclose(f);
}

static double cpu_seconds(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the client ------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int connect_unix(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        die("connect");
    return fd;
}

static int connect_tcp(unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        die("connect");
    return fd;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct load {
    const char *name, *request;
    int connections;
    unsigned port; /* 0 = by the unix socket */
};

/* Replies are smaller than the buffer and arrive complete. */
static void read_reply(int fd)
{
    char buf[4096];
    ssize_t n = recv(fd, buf, sizeof buf, 0);
    if (n < 12 || memcmp(buf + 9, "20", 2) != 0)
        die("reply");
}

static void measure(const struct load *load, const char *path, pid_t server)
{
    static double took[REQUESTS], began[MOST_CONNECTIONS];
    int fds[MOST_CONNECTIONS], epoll = epoll_create1(0), sent = 0, done = 0;
    size_t length = strlen(load->request);
    struct epoll_event fired[MOST_CONNECTIONS];
    double cpu = cpu_seconds(server), start = now();
    for (int i = 0; i < load->connections; i++, sent++) {
        fds[i] = load->port ? connect_tcp(load->port) : connect_unix(path);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i],
                  &(struct epoll_event){.events = EPOLLIN, .data.u32 = (uint32_t)i});
        began[i] = now();
        if (send(fds[i], load->request, length, 0) < 0)
            die("send");
    }
    while (done < REQUESTS) {
        int n = epoll_wait(epoll, fired, MOST_CONNECTIONS, -1);
        for (int k = 0; k < n; k++) {
            uint32_t i = fired[k].data.u32;
            read_reply(fds[i]);
            took[done++] = now() - began[i];
            if (sent++ >= REQUESTS)
                continue;
            began[i] = now();
            if (send(fds[i], load->request, length, 0) < 0)
                die("send");
        }
    }
    double seconds = now() - start;
    cpu = cpu_seconds(server) - cpu;
    qsort(took, REQUESTS, sizeof *took, by_size);
    printf("%-34s %5d %9.0f %9.0f %8.1f %8.1f %8.1f\n", load->name, load->connections,
           REQUESTS / seconds, REQUESTS / cpu, cpu / REQUESTS * 1e6, took[REQUESTS / 2] * 1e6,
           took[REQUESTS * 99 / 100] * 1e6);
    for (int i = 0; i < load->connections; i++)
        close(fds[i]);
    close(epoll);
}

/* A newly executed process, so that all its memory is its own. */
static pid_t start(const char *program, const char *path, int ready)
{
    char fd[16];
    pid_t pid = fork();
    if (pid)
        return pid;
    snprintf(fd, sizeof fd, "%d", ready);
    execl(program, program, path, fd, (char *)NULL);
    die(program);
    return -1;
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        serve(argv[1], atoi(argv[2]));
        return 0;
    }
    char path[] = "/tmp/trainyard-bench-XXXXXX";
    static const char get[] = "GET /api/v1/jobs/1234 HTTP/1.1\r\nHost: localhost\r\n"
                              "User-Agent: bench\r\nAccept: */*\r\n"
                              "Authorization: Bearer secret\r\n\r\n";
    static const char post[] = "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
                               "User-Agent: bench\r\nContent-Type: application/json\r\n"
                               "Content-Length: 29\r\n\r\n{\"command\":[\"true\"],\"cpus\":1}";
    int ready[2];
    unsigned port = 0;
    long rss, own;
    int fd = mkstemp(path);
    if (fd < 0 || pipe(ready) < 0)
        die("mkstemp");
    close(fd);
    unlink(path);
    pid_t server = start(argv[0], path, ready[1]);
    if (server < 0 || read(ready[0], &port, sizeof port) != sizeof port)
        die("fork");
    usleep(100000);
    memory(server, &rss, &own);
    printf("idle server: %.1f MB resident, of which %.1f MB are not shared\n\n", (double)rss / 1024,
           (double)own / 1024);
    printf("%-34s %5s %9s %9s %8s %8s %8s\n", "", "conns", "req/s", "per core", "us CPU", "p50 us",
           "p99 us");
    const struct load loads[] = {
        {"show, unix socket", get, 1, 0},
        {"show, unix socket", get, 16, 0},
        {"show, unix socket", get, 256, 0},
        {"show, TCP with token", get, 16, port},
        {"submit, deferred, unix socket", post, 1, 0},
        {"submit, deferred, unix socket", post, 16, 0},
    };
    for (size_t i = 0; i < COUNT_OF(loads); i++)
        measure(&loads[i], path, server);
    memory(server, &rss, &own);
    printf("\nafterwards: %.1f MB resident\n", (double)rss / 1024);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    unlink(path);
    return 0;
}
