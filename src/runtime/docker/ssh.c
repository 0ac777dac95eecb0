/* Owns how an engine is reached through ssh: the forwarded socket, and processes for single
 * connections where forwarding is not possible.
 *
 * To prepare is a chain: ask the far docker client for the engine's socket (unless the address
 * names it), start the process that forwards it, wait until ssh has made our end, and request
 * /_ping through it. If the engine does not answer there, the listener serves instead. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/docker/ssh.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "runtime/docker/helper.h"

/* The program to use instead of ssh. */
#define SSH_VARIABLE "TRAINYARD_SSH"
#define PREPARE_LIMIT (20 * USEC_PER_SEC)
enum { WORDS_MAX = 24, LOOK_EVERY_MS = 50 };

static const char ask_socket[] = "docker context inspect --format '{{.Endpoints.docker.Host}}'";
static const char ping[] = "GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n";

struct ssh {
    uv_loop_t *loop;
    struct endpoint at; /* belongs to the caller */
    char *listener_path, *tunnel_path;
    uv_poll_t listener;
    int fd; /* of the listener */
    VEC(struct helper *) dials;
    struct helper *asking, *tunnel;
    bool forwarded; /* connections go through the tunnel */
    uv_timer_t look;
    int looks; /* left until it is given up */
    int probe; /* socket of the request through the tunnel; -1 = none */
    void (*done)(void *ctx, const struct err *err);
    void *ctx;
    unsigned handles;
    char notice[160], complaint[160];
};

/* ---- the command line ----------------------------------------------------------------- */

struct words {
    char *at[WORDS_MAX];
    size_t n;
};

static void add_word(struct words *w, const char *word)
{
    w->at[w->n++] = xstrdup(word);
}

static void free_words(struct words *w)
{
    while (w->n)
        free(w->at[--w->n]);
}

static struct helper *run(struct ssh *s, const char *forward, const char *command, int fd,
                          usec_t limit, const struct helper_user *user)
{
    static const char *const fixed[] = {"-T", "-oBatchMode=yes", "-oConnectTimeout=10",
                                        "-oServerAliveInterval=15"};
    /* Of its own: a shared connection would keep the forwarded socket beyond our process. */
    static const char *const forwarding[] = {"-N", "-oControlPath=none",
                                             "-oExitOnForwardFailure=yes", "-L"};
    const char *program = getenv(SSH_VARIABLE);
    struct words w = {0};
    add_word(&w, program && *program ? program : "ssh");
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        add_word(&w, fixed[i]);
    if (s->at.port) {
        add_word(&w, "-p");
        add_word(&w, s->at.port);
    }
    for (size_t i = 0; forward && i < COUNT_OF(forwarding); i++)
        add_word(&w, forwarding[i]);
    if (forward)
        add_word(&w, forward);
    add_word(&w, "--");
    add_word(&w, s->at.host);
    if (command)
        add_word(&w, command);
    struct helper *p = helper_start(s->loop, w.at, fd, fd, limit, user);
    free_words(&w);
    return p;
}

static void keep_complaint(struct ssh *s, const char *complaint)
{
    if (*complaint)
        snprintf(s->complaint, sizeof s->complaint, "%s", complaint);
}

/* ---- one process per connection -------------------------------------------------------- */

static void dial_ended(void *ctx, struct helper *p, int code, const char *output,
                       const char *complaint)
{
    struct ssh *s = ctx;
    size_t i = 0;
    (void)output;
    while (s->dials.at[i] != p)
        i++;
    s->dials.at[i] = s->dials.at[--s->dials.n];
    if (code)
        keep_complaint(s, complaint);
}

static void on_connection(uv_poll_t *listener, int status, int events)
{
    struct ssh *s = listener->data;
    struct str command = {0};
    (void)events;
    int fd = status < 0 ? -1 : accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    *s->complaint = '\0';
    str_add(&command, "docker ");
    if (s->at.path)
        str_addf(&command, "-H unix://%s ", s->at.path);
    str_add(&command, "system dial-stdio");
    VEC_PUSH(&s->dials, run(s, NULL, command.at, fd, 0, &(struct helper_user){dial_ended, s}));
    str_done(&command);
    close(fd);
}

static int open_socket(const char *path, struct sockaddr_un *a, struct err *err)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (snprintf(a->sun_path, sizeof a->sun_path, "%s", path) >= (int)sizeof a->sun_path)
        return err_set(err, ERR_LIMIT, "the name of the node or of the run directory is too long");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd >= 0 ? fd : err_set(err, ERR_IO, "no socket: %s", strerror(errno));
}

static int listen_at(const char *path, int *out, struct err *err)
{
    struct sockaddr_un a;
    AUTO_CLOSE int fd = open_socket(path, &a, err);
    if (fd < 0)
        return -1;
    unlink(path);
    mode_t mask = umask(0177);
    int rc = bind(fd, (struct sockaddr *)&a, sizeof a);
    umask(mask);
    if (rc < 0 || listen(fd, 64) < 0)
        return err_set(err, ERR_IO, "cannot listen on %.100s: %s", path, strerror(errno));
    *out = fd_take(&fd);
    return 0;
}

/* ---- preparing ---------------------------------------------------------------------------- */

static void close_probe(struct ssh *s)
{
    if (s->probe >= 0)
        close(s->probe);
    s->probe = -1;
}

static void stop_tunnel(struct ssh *s)
{
    close_probe(s);
    helper_stop(s->tunnel);
    s->tunnel = NULL;
    s->forwarded = false;
    unlink(s->tunnel_path);
}

static void finish(struct ssh *s, const struct err *err)
{
    void (*done)(void *ctx, const struct err *err) = s->done;
    uv_timer_stop(&s->look);
    s->done = NULL;
    if (done)
        done(s->ctx, err);
}

static void fail(struct ssh *s)
{
    struct err err;
    err_set(&err, ERR_UNREACHABLE, "the engine cannot be reached through ssh: %s",
            *s->complaint ? s->complaint : "it does not answer");
    finish(s, &err);
}

/* ssh works, forwarding does not. */
static void use_dials(struct ssh *s, const char *why)
{
    stop_tunnel(s);
    snprintf(s->notice, sizeof s->notice, "each running job needs an ssh process of its own: %s",
             why);
    finish(s, &(struct err){.code = ERR_OK});
}

/* Whether the engine has answered through the tunnel; -1 if it never will. */
static int look_at_probe(struct ssh *s)
{
    struct sockaddr_un a;
    struct err err;
    char bytes[8];
    if (s->probe < 0) {
        s->probe = open_socket(s->tunnel_path, &a, &err);
        if (s->probe < 0 || connect(s->probe, (struct sockaddr *)&a, sizeof a) < 0) {
            close_probe(s); /* ssh has not made its socket yet */
            return 0;
        }
        if (write(s->probe, ping, sizeof ping - 1) < 0)
            return -1;
    }
    ssize_t n = recv(s->probe, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n >= 5 && !memcmp(bytes, "HTTP/", 5) ? 1 : -1;
}

static void on_look(uv_timer_t *timer)
{
    struct ssh *s = timer->data;
    int found = look_at_probe(s);
    if (found > 0) {
        close_probe(s);
        s->forwarded = true;
        *s->notice = '\0';
        finish(s, &(struct err){.code = ERR_OK});
    } else if (found < 0) {
        use_dials(s, "its sshd does not forward the engine's socket");
    } else if (--s->looks <= 0) {
        stop_tunnel(s);
        fail(s);
    }
}

static void tunnel_ended(void *ctx, struct helper *p, int code, const char *output,
                         const char *complaint)
{
    struct ssh *s = ctx;
    (void)p;
    (void)code;
    (void)output;
    s->tunnel = NULL;
    keep_complaint(s, complaint);
    stop_tunnel(s);
    if (s->done)
        fail(s);
}

static void start_tunnel(struct ssh *s, const char *remote)
{
    struct str forward = {0};
    str_addf(&forward, "%s:%s", s->tunnel_path, remote);
    unlink(s->tunnel_path);
    s->tunnel = run(s, forward.at, NULL, -1, 0, &(struct helper_user){tunnel_ended, s});
    s->looks = (int)(PREPARE_LIMIT / 1000 / LOOK_EVERY_MS);
    uv_timer_start(&s->look, on_look, LOOK_EVERY_MS, LOOK_EVERY_MS);
    str_done(&forward);
}

static void socket_known(void *ctx, struct helper *p, int code, const char *output,
                         const char *complaint)
{
    static const char scheme[] = "unix://";
    struct ssh *s = ctx;
    (void)p;
    s->asking = NULL;
    if (code) {
        keep_complaint(s, complaint);
        fail(s);
        return;
    }
    AUTO_FREE char *path = xstrndup(output, strcspn(output, "\r\n"));
    if (!strncmp(path, scheme, sizeof scheme - 1))
        start_tunnel(s, path + sizeof scheme - 1);
    else
        use_dials(s, "its docker client does not use a socket");
}

void ssh_prepare(struct ssh *s, void (*done)(void *ctx, const struct err *err), void *ctx)
{
    s->done = done;
    s->ctx = ctx;
    *s->complaint = '\0';
    stop_tunnel(s);
    helper_stop(s->asking);
    s->asking = NULL;
    if (s->at.path)
        start_tunnel(s, s->at.path);
    else
        s->asking =
            run(s, NULL, ask_socket, -1, PREPARE_LIMIT, &(struct helper_user){socket_known, s});
}

/* ---- life ----------------------------------------------------------------------------------- */

const char *ssh_socket(const struct ssh *s)
{
    return s->forwarded ? s->tunnel_path : s->listener_path;
}

const char *ssh_notice(const struct ssh *s)
{
    return s->notice;
}

const char *ssh_complaint(const struct ssh *s)
{
    return s->complaint;
}

int ssh_open(struct uv_loop_s *loop, const struct endpoint *e, const char *path, struct ssh **out,
             struct err *err)
{
    struct str tunnel = {0};
    int fd;
    if (listen_at(path, &fd, err) < 0)
        return -1;
    struct ssh *s = xcalloc(1, sizeof *s);
    str_addf(&tunnel, "%s.ssh", path);
    s->loop = loop;
    s->at = *e;
    s->fd = fd;
    s->probe = -1;
    s->listener_path = xstrdup(path);
    s->tunnel_path = xstrdup(tunnel.at);
    str_done(&tunnel);
    s->handles = 2;
    s->listener.data = s->look.data = s;
    uv_timer_init(loop, &s->look);
    uv_poll_init(loop, &s->listener, fd);
    uv_poll_start(&s->listener, UV_READABLE, on_connection);
    *out = s;
    return 0;
}

static void free_ssh(uv_handle_t *handle)
{
    struct ssh *s = handle->data;
    if (--s->handles > 0)
        return;
    close(s->fd);
    free(s->listener_path);
    free(s->tunnel_path);
    VEC_DONE(&s->dials);
    free(s);
}

void ssh_free(struct ssh *s)
{
    if (!s)
        return;
    s->done = NULL;
    helper_stop(s->asking);
    stop_tunnel(s);
    for (size_t i = 0; i < s->dials.n; i++)
        helper_stop(s->dials.at[i]);
    unlink(s->listener_path);
    uv_close((uv_handle_t *)&s->listener, free_ssh);
    uv_close((uv_handle_t *)&s->look, free_ssh);
}
