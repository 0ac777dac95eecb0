/* Owns the processes of ssh. libcurl connects to a socket of ours, and each connection becomes the
 * standard streams of a process, which ends when the connection is closed. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/docker/ssh.h"

#include <errno.h>
#include <signal.h>
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

/* The program to use instead of ssh. */
#define SSH_VARIABLE "TRAINYARD_SSH"

struct process {
    uv_process_t process;
    uv_pipe_t errors;
    unsigned handles; /* of these two, how many are open */
    struct ssh *owner;
    struct process *prev, *next;
    char buffer[512];
};

struct ssh {
    uv_loop_t *loop;
    uv_poll_t listener;
    int fd;          /* of the listener */
    char *path;      /* where it listens */
    char *words[16]; /* of its command line */
    struct process *first;
    char complaint[160];
};

/* ---- the command line ----------------------------------------------------------------- */

static void make_words(struct ssh *s, const struct endpoint *e)
{
    static const char *const fixed[] = {"-T", "-oBatchMode=yes", "-oConnectTimeout=10",
                                        "-oServerAliveInterval=15"};
    const char *program = getenv(SSH_VARIABLE);
    struct str remote = {0};
    size_t n = 0;
    s->words[n++] = xstrdup(program && *program ? program : "ssh");
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        s->words[n++] = xstrdup(fixed[i]);
    if (e->port) {
        s->words[n++] = xstrdup("-p");
        s->words[n++] = xstrdup(e->port);
    }
    s->words[n++] = xstrdup("--");
    s->words[n++] = xstrdup(e->host);
    if (e->path)
        str_addf(&remote, "docker -H unix://%s system dial-stdio", e->path);
    else
        str_add(&remote, "docker system dial-stdio");
    s->words[n] = remote.at;
}

const char *ssh_complaint(const struct ssh *s)
{
    return s->complaint;
}

/* ---- a process ------------------------------------------------------------------------ */

static void free_process(uv_handle_t *handle)
{
    struct process *p = handle->data;
    if (--p->handles == 0)
        free(p);
}

static void end_process(struct process *p)
{
    if (!p->owner)
        return;
    *(p->prev ? &p->prev->next : &p->owner->first) = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->owner = NULL;
    uv_close((uv_handle_t *)&p->process, free_process);
    uv_close((uv_handle_t *)&p->errors, free_process);
}

static void on_ended(uv_process_t *process, int64_t status, int signal)
{
    (void)status;
    (void)signal;
    end_process(process->data);
}

static void give_buffer(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
    struct process *p = handle->data;
    (void)hint;
    *buf = uv_buf_init(p->buffer, sizeof p->buffer);
}

/* Keeps the last line. */
static void on_error_text(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct process *p = stream->data;
    if (n < 0)
        uv_read_stop(stream);
    if (n <= 0 || !p->owner)
        return;
    size_t end = (size_t)n, begin;
    while (end && strchr("\r\n", buf->base[end - 1]))
        end--;
    for (begin = end; begin && buf->base[begin - 1] != '\n'; begin--)
        ;
    snprintf(p->owner->complaint, sizeof p->owner->complaint, "%.*s", (int)(end - begin),
             buf->base + begin);
}

static void spawn(struct ssh *s, int fd)
{
    struct process *p = xcalloc(1, sizeof *p);
    uv_stdio_container_t streams[] = {
        {.flags = UV_INHERIT_FD, .data.fd = fd},
        {.flags = UV_INHERIT_FD, .data.fd = fd},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&p->errors}};
    uv_process_options_t options = {.exit_cb = on_ended,
                                    .file = s->words[0],
                                    .args = s->words,
                                    .stdio_count = COUNT_OF(streams),
                                    .stdio = streams};
    p->owner = s;
    p->handles = 2;
    p->process.data = p->errors.data = p;
    p->next = s->first;
    if (s->first)
        s->first->prev = p;
    s->first = p;
    uv_pipe_init(s->loop, &p->errors, 0);
    int rc = uv_spawn(s->loop, &p->process, &options);
    if (rc < 0) {
        snprintf(s->complaint, sizeof s->complaint, "cannot run %.60s: %s", s->words[0],
                 uv_strerror(rc));
        end_process(p);
        return;
    }
    uv_read_start((uv_stream_t *)&p->errors, give_buffer, on_error_text);
}

/* ---- connections ------------------------------------------------------------------------ */

static void on_connection(uv_poll_t *listener, int status, int events)
{
    struct ssh *s = listener->data;
    (void)events;
    int fd = status < 0 ? -1 : accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    *s->complaint = '\0';
    spawn(s, fd); /* if that fails, the connection is closed */
    close(fd);
}

static int listen_at(const char *path, int *out, struct err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n = snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    if (n >= (int)sizeof a.sun_path)
        return err_set(err, ERR_LIMIT, "the name of the node or of the run directory is too long");
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(path);
    mode_t mask = umask(0177);
    int rc = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&a, sizeof a);
    umask(mask);
    if (rc < 0 || listen(fd, 64) < 0)
        return err_set(err, ERR_IO, "cannot listen on %.100s: %s", path, strerror(errno));
    *out = fd_take(&fd);
    return 0;
}

int ssh_open(struct uv_loop_s *loop, const struct endpoint *e, const char *path, struct ssh **out,
             struct err *err)
{
    int fd;
    if (listen_at(path, &fd, err) < 0)
        return -1;
    struct ssh *s = xcalloc(1, sizeof *s);
    s->loop = loop;
    s->fd = fd;
    s->path = xstrdup(path);
    s->listener.data = s;
    make_words(s, e);
    uv_poll_init(loop, &s->listener, fd);
    uv_poll_start(&s->listener, UV_READABLE, on_connection);
    *out = s;
    return 0;
}

static void free_ssh(uv_handle_t *handle)
{
    struct ssh *s = handle->data;
    close(s->fd);
    for (size_t i = 0; s->words[i]; i++)
        free(s->words[i]);
    free(s->path);
    free(s);
}

void ssh_free(struct ssh *s)
{
    if (!s)
        return;
    while (s->first) {
        uv_process_kill(&s->first->process, SIGTERM);
        end_process(s->first);
    }
    unlink(s->path);
    uv_close((uv_handle_t *)&s->listener, free_ssh);
}
