/* Owns a helper's process: its start, its output, and its end. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/docker/helper.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"

enum { OUTPUT_MAX = 4096, NOT_STARTED = 127, SIGNALLED = 128 };

struct helper {
    uv_process_t process;
    uv_pipe_t output, errors;
    uv_timer_t timer; /* reports that it could not be started, or ends it */
    unsigned handles; /* of these, how many are not closed yet */
    unsigned awaited; /* of the exit and the ends of both pipes, how many are still to come */
    bool running;     /* it was started, and has not ended */
    bool stopped;     /* its user does not want to hear of it any more */
    int code;
    struct helper_user user;
    struct str text;
    char complaint[160];
    char buffer[2048];
};

static void free_process(uv_handle_t *handle)
{
    struct helper *p = handle->data;
    if (--p->handles > 0)
        return;
    str_done(&p->text);
    free(p);
}

static void close_all(struct helper *p)
{
    if (!p->running) /* otherwise on_ended() does it: only an open handle reaps the process */
        uv_close((uv_handle_t *)&p->process, free_process);
    uv_close((uv_handle_t *)&p->output, free_process);
    uv_close((uv_handle_t *)&p->errors, free_process);
    uv_close((uv_handle_t *)&p->timer, free_process);
}

/* What it said last may arrive after its exit, so all three are waited for. */
static void note_end(struct helper *p)
{
    if (p->stopped || --p->awaited > 0)
        return;
    p->stopped = true;
    p->user.ended(p->user.ctx, p, p->code, p->text.n ? p->text.at : "", p->complaint);
    close_all(p);
}

static void on_ended(uv_process_t *process, int64_t status, int number)
{
    struct helper *p = process->data;
    p->running = false;
    p->code = number ? SIGNALLED + number : (int)status;
    if (p->stopped)
        uv_close((uv_handle_t *)process, free_process);
    else
        note_end(p);
}

static void on_not_started(uv_timer_t *timer)
{
    note_end(timer->data);
}

static void on_late(uv_timer_t *timer)
{
    struct helper *p = timer->data;
    snprintf(p->complaint, sizeof p->complaint, "it does not answer");
    uv_process_kill(&p->process, SIGKILL);
}

static void give_buffer(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
    struct helper *p = handle->data;
    (void)hint;
    *buf = uv_buf_init(p->buffer, sizeof p->buffer);
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct helper *p = stream->data;
    if (n > 0 && p->text.n + (size_t)n <= OUTPUT_MAX)
        str_add_n(&p->text, buf->base, (size_t)n);
    if (n >= 0)
        return;
    uv_read_stop(stream);
    note_end(p);
}

/* Keeps the last line. */
static void on_errors(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct helper *p = stream->data;
    if (n < 0) {
        uv_read_stop(stream);
        note_end(p);
        return;
    }
    size_t end = (size_t)n, begin;
    while (end && strchr("\r\n", buf->base[end - 1]))
        end--;
    for (begin = end; begin && buf->base[begin - 1] != '\n'; begin--)
        ;
    if (end > begin)
        snprintf(p->complaint, sizeof p->complaint, "%.*s", (int)(end - begin), buf->base + begin);
}

static void prepare(struct helper *p, uv_loop_t *loop)
{
    uv_pipe_init(loop, &p->output, 0);
    uv_pipe_init(loop, &p->errors, 0);
    uv_timer_init(loop, &p->timer);
    p->handles = 4;
    p->process.data = p->output.data = p->errors.data = p->timer.data = p;
}

static uv_stdio_container_t inherited(int fd)
{
    return (uv_stdio_container_t){.flags = fd < 0 ? UV_IGNORE : UV_INHERIT_FD, .data.fd = fd};
}

static uv_stdio_container_t piped(uv_pipe_t *pipe)
{
    return (uv_stdio_container_t){.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
                                  .data.stream = (uv_stream_t *)pipe};
}

struct helper *helper_start(struct uv_loop_s *loop, char *const words[], int in, int out,
                            usec_t limit, const struct helper_user *user)
{
    struct helper *p = xcalloc(1, sizeof *p);
    prepare(p, loop);
    p->user = *user;
    uv_stdio_container_t streams[] = {inherited(in), out < 0 ? piped(&p->output) : inherited(out),
                                      piped(&p->errors)};
    uv_process_options_t options = {.exit_cb = on_ended,
                                    .file = words[0],
                                    .args = (char **)words,
                                    .stdio_count = COUNT_OF(streams),
                                    .stdio = streams};
    int rc = uv_spawn(loop, &p->process, &options);
    if (rc < 0) {
        snprintf(p->complaint, sizeof p->complaint, "cannot run %.60s: %s", words[0],
                 uv_strerror(rc));
        p->code = NOT_STARTED;
        p->awaited = 1;
        uv_timer_start(&p->timer, on_not_started, 0, 0);
        return p;
    }
    p->running = true;
    if (limit)
        uv_timer_start(&p->timer, on_late, (uint64_t)limit / 1000, 0);
    p->awaited = out < 0 ? 3 : 2;
    uv_read_start((uv_stream_t *)&p->errors, give_buffer, on_errors);
    if (out < 0)
        uv_read_start((uv_stream_t *)&p->output, give_buffer, on_output);
    return p;
}

void helper_stop(struct helper *p)
{
    if (!p || p->stopped)
        return;
    p->stopped = true;
    if (p->running)
        uv_process_kill(&p->process, SIGTERM);
    close_all(p);
}
