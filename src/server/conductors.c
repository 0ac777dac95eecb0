/* Owns the connections of conductors: accepting, lines, who is who. A connection is
 * nobody's until its hello shows the token of an attempt. One whose attempt is over
 * and committed is told so when it asks. */
#include "server/conductors.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "base/str.h"
#include "conductor/message.h"
#include "server/jobs/attempts.h"
#include "server/jobs/reports.h"
#include "server/log.h"
#include "store/attempts.h"
#include "store/job_state.h"

struct conduit {
    uv_pipe_t pipe;
    struct conductors *owner;
    struct conduit *prev, *next;
    struct str in;
    struct attempt *attempt; /* NULL before hello, and when it is over */
    bool over;               /* its attempt is over, and that is on disk */
    bool closing;
};

struct conductors {
    uv_pipe_t listener;
    struct yard *yard;
    char *path;
    struct conduit *links;
    char buffer[MESSAGE_MAX_BYTES];
};

const char *conductors_path(const struct conductors *c)
{
    return c->path;
}

static void free_link(uv_handle_t *handle)
{
    struct conduit *link = handle->data;
    str_done(&link->in);
    free(link);
}

static void close_link(struct conduit *link)
{
    if (link->closing)
        return;
    link->closing = true;
    *(link->prev ? &link->prev->next : &link->owner->links) = link->next;
    if (link->next)
        link->next->prev = link->prev;
    if (link->attempt)
        attempt_unlinked(link->owner->yard, link->attempt);
    uv_close((uv_handle_t *)&link->pipe, free_link);
}

struct outgoing {
    uv_write_t request;
    char bytes[];
};

static void written(uv_write_t *request, int status)
{
    struct conduit *link = request->handle->data;
    free(request->data);
    if (status < 0 && status != UV_ECANCELED)
        close_link(link);
}

void conduit_send(struct conduit *link, json_t *message)
{
    AUTO_FREE char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (link->closing || !text)
        return;
    size_t n = strlen(text);
    struct outgoing *out = xmalloc(sizeof *out + n + 1);
    memcpy(out->bytes, text, n);
    out->bytes[n] = '\n';
    out->request.data = out;
    uv_buf_t buf = uv_buf_init(out->bytes, (unsigned)n + 1);
    if (uv_write(&out->request, (uv_stream_t *)&link->pipe, &buf, 1, written) < 0) {
        free(out);
        close_link(link);
    }
}

void conduit_forget(struct conduit *link)
{
    link->attempt = NULL;
    link->over = true;
}

static void send_ack(struct conduit *link)
{
    conduit_send(link, json_pack("{s:s, s:s}", "type", "ack", "what", "exit"));
}

static void refuse(struct conduit *link, const char *text)
{
    conduit_send(link, json_pack("{s:s, s:s}", "type", "refused", "text", text));
}

struct find_over {
    uint32_t n;
    const char *token;
    bool over;
};

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct find_over *f = ctx;
    (void)err;
    if (row->n == f->n && job_state_over(row->state) && !strcmp(row->token, f->token))
        f->over = true;
    return 0;
}

static void take_hello(struct conduit *link, const json_t *o)
{
    struct yard *y = link->owner->yard;
    int64_t job = json_integer_value(json_object_get(o, "job"));
    uint32_t n = (uint32_t)json_integer_value(json_object_get(o, "attempt"));
    const char *token = json_string_value(json_object_get(o, "token"));
    usec_t started = json_integer_value(json_object_get(o, "started_us"));
    struct attempt *a = attempt_find(y, job, n);
    struct find_over find = {n, token ? token : "", false};
    struct err err;
    if (a && token && !strcmp(a->token, token)) {
        a->pid = json_integer_value(json_object_get(o, "pid"));
        link->attempt = a;
        attempt_knows_size(y, a, json_number_value(json_object_get(o, "cpus")));
        attempt_linked(y, a, link);
        if (started > 0)
            attempt_started(y, a, started);
        return;
    }
    if (!a && store_attempt_list(y->store, job, see_attempt, &find, &err) == 0 && find.over) {
        link->over = true;
        conduit_send(link, json_pack("{s:s}", "type", "welcome"));
        return;
    }
    log_warning("job=%lld attempt=%u a conductor that is not known was refused", (long long)job, n);
    refuse(link, "no such attempt");
}

static void take_exit(struct conduit *link, const json_t *o)
{
    struct yard *y = link->owner->yard;
    struct attempt *a = link->attempt;
    struct err err;
    if (link->over) {
        send_ack(link);
        return;
    }
    /* One that is leaving already is acknowledged when that is on disk. */
    if (!a || job_state_over(a->state))
        return;
    AUTO_FREE char *text = json_dumps(o, JSON_COMPACT);
    if (attempt_over_text(y, a, text, &err) < 0)
        log_warning("job=%lld attempt=%u %s", (long long)a->job, a->n, err.text);
}

/* Answers to commands, and what a user should know. */
static void take_answer(struct conduit *link, const char *type, const json_t *o)
{
    const struct attempt *a = link->attempt;
    const char *text = json_string_value(json_object_get(o, "text"));
    if (strcmp(type, "ok") != 0 && a && text)
        log_warning("job=%lld attempt=%u conductor %s: %s", (long long)a->job, a->n, type, text);
}

static void take_line(struct conduit *link, const char *line, size_t n)
{
    json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    const char *type = json_string_value(json_object_get(o, "type"));
    struct yard *y = link->owner->yard;
    struct attempt *a = link->attempt;
    if (!type) {
        refuse(link, "not a message");
        close_link(link);
    } else if (!strcmp(type, "hello")) {
        if (!a && !link->over)
            take_hello(link, o);
    } else if (!strcmp(type, "exit")) {
        take_exit(link, o);
    } else if (!a || job_state_over(a->state)) {
        /* Late news of something that is over. */
    } else if (!strcmp(type, "started")) {
        attempt_started(y, a, json_integer_value(json_object_get(o, "at_us")));
    } else if (!strcmp(type, "progress")) {
        report_progress(y, a, o);
    } else if (!strcmp(type, "usage")) {
        report_usage(y, a, o);
    } else if (!strcmp(type, "applied")) {
        report_applied(y, a, o);
    } else if (!strcmp(type, "restarted")) {
        report_restarted(y, a, o);
    } else {
        take_answer(link, type, o);
    }
    json_decref(o);
}

static void take_bytes(struct conduit *link)
{
    size_t from = 0;
    const char *end;
    while (!link->closing && (end = memchr(link->in.at + from, '\n', link->in.n - from))) {
        take_line(link, link->in.at + from, (size_t)(end - link->in.at) - from);
        from = (size_t)(end - link->in.at) + 1;
    }
    memmove(link->in.at, link->in.at + from, link->in.n - from);
    link->in.n -= from;
    if (link->in.n >= MESSAGE_MAX_BYTES) {
        log_warning("a conductor sent a line of more than %d bytes", MESSAGE_MAX_BYTES);
        close_link(link);
    }
}

static void give_buffer(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
    struct conduit *link = handle->data;
    (void)hint;
    *buf = uv_buf_init(link->owner->buffer, sizeof link->owner->buffer);
}

static void take_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct conduit *link = stream->data;
    if (n < 0) {
        close_link(link);
    } else if (n > 0) {
        str_add_n(&link->in, buf->base, (size_t)n);
        take_bytes(link);
    }
}

static void accept_link(uv_stream_t *listener, int status)
{
    struct conductors *c = listener->data;
    if (status < 0)
        return;
    struct conduit *link = xcalloc(1, sizeof *link);
    link->owner = c;
    link->pipe.data = link;
    uv_pipe_init(listener->loop, &link->pipe, 0);
    link->next = c->links;
    if (c->links)
        c->links->prev = link;
    c->links = link;
    if (uv_accept(listener, (uv_stream_t *)&link->pipe) < 0 ||
        uv_read_start((uv_stream_t *)&link->pipe, give_buffer, take_read) < 0)
        close_link(link);
}

static void free_conductors(uv_handle_t *handle)
{
    struct conductors *c = handle->data;
    free(c->path);
    free(c);
}

int conductors_open(struct yard *y, struct conductors **out, struct err *err)
{
    struct conductors *c = xcalloc(1, sizeof *c);
    struct str path = {0};
    str_addf(&path, "%s/conductor.sock", y->config.run_dir);
    c->yard = y;
    c->path = path.at;
    c->listener.data = c;
    uv_pipe_init(y->loop, &c->listener, 0);
    unlink(c->path);
    mode_t mask = umask(0177);
    int rc = uv_pipe_bind(&c->listener, c->path);
    umask(mask);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&c->listener, 128, accept_link);
    if (rc < 0) {
        err_set(err, ERR_IO, "cannot listen on %s: %s", c->path, uv_strerror(rc));
        uv_close((uv_handle_t *)&c->listener, free_conductors);
        return -1;
    }
    *out = c;
    return 0;
}

void conductors_drop(struct conductors *c)
{
    while (c->links)
        close_link(c->links);
}

void conductors_close(struct conductors *c)
{
    if (!c)
        return;
    conductors_drop(c);
    uv_close((uv_handle_t *)&c->listener, free_conductors);
}
