/* Owns deliveries: the processes, their results, and when to try again.
 *
 * A process gets the message on its stdin and says "ok" or what is wrong on its stdout. It has
 * ended when that is closed; its exit status is not needed, as process 1 of a container may not
 * learn it. A message is delivered at least once: it is deleted after the process said "ok". */
#include "server/notices/deliver.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/str.h"
#include "server/log.h"
#include "server/notices/notices.h"
#include "server/yard.h"
#include "store/notices.h"
#include "wire/notice.h"

enum { AT_ONCE = 4, LIMIT_MS = 60000, FIRST_RETRY_S = 10, ANSWER_MAX = 4096 };
#define LAST_RETRY_S 3600
#define GIVE_UP (24 * 3600 * USEC_PER_SEC)

struct delivery {
    struct yard *y; /* NULL once the yard is closed */
    struct delivery *next;
    int64_t id, tries;
    usec_t created;
    char *shown; /* the target, for the log */
    uv_process_t process;
    uv_pipe_t in, out;
    uv_timer_t limit;
    uv_write_t write;
    unsigned handles;
    bool ended, closed; /* the process; its output */
    char *input;
    struct str answer;
    char buffer[512];
};

static void look(uv_timer_t *timer);

/* ---- the end of a delivery ------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct delivery *d = handle->data;
    if (--d->handles)
        return;
    free(d->shown);
    free(d->input);
    str_done(&d->answer);
    free(d);
}

static void close_handles(struct delivery *d)
{
    uv_handle_t *const all[] = {(uv_handle_t *)&d->process, (uv_handle_t *)&d->in,
                                (uv_handle_t *)&d->out, (uv_handle_t *)&d->limit};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (!uv_is_closing(all[i]))
            uv_close(all[i], on_handle_closed);
}

static void plan_retry(struct delivery *d)
{
    struct yard *y = d->y;
    struct err err;
    usec_t now = clock_wall(&y->clock);
    int64_t wait = FIRST_RETRY_S;
    for (int64_t i = 0; i < d->tries && wait < LAST_RETRY_S; i++)
        wait *= 2;
    wait = wait < LAST_RETRY_S ? wait : LAST_RETRY_S;
    const char *why = d->answer.n ? d->answer.at : "it did not end in time";
    bool over = now - d->created > GIVE_UP;
    log_warning("notice=%lld to=%s %s: %s", (long long)d->id, d->shown,
                over ? "given up" : "will be tried again", why);
    int rc =
        over ? store_notice_delete(y->store, d->id, &err)
             : store_notice_retry(y->store, d->id, d->tries + 1, now + wait * USEC_PER_SEC, &err);
    if (rc < 0)
        log_warning("notice: %s", err.text);
}

static void finish(struct delivery *d)
{
    struct yard *y = d->y;
    struct err err;
    if (y) {
        struct delivery **at = &y->notices.first;
        while (*at != d)
            at = &(*at)->next;
        *at = d->next;
        d->answer.n -= d->answer.n && d->answer.at[d->answer.n - 1] == '\n';
        if (d->answer.n)
            d->answer.at[d->answer.n] = '\0';
        if (!d->answer.n || strcmp(d->answer.at, "ok") != 0)
            plan_retry(d);
        else if (store_notice_delete(y->store, d->id, &err) < 0)
            log_warning("notice: %s", err.text);
        else
            log_info("notice=%lld to=%s delivered", (long long)d->id, d->shown);
        turn_hurry(y);
        uv_timer_start(y->notices.timer, look, 0, 0);
    }
    d->y = NULL;
    close_handles(d);
}

/* As process 1, the server has reaped it already (server/serve.c). */
static void finish_if_over(struct delivery *d)
{
    if (d->closed && (d->ended || getpid() == 1))
        finish(d);
}

static void on_ended(uv_process_t *process, int64_t status, int signal)
{
    struct delivery *d = process->data;
    (void)status;
    (void)signal;
    d->ended = true;
    finish_if_over(d);
}

static void give_buffer(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct delivery *d = handle->data;
    (void)size;
    *buf = uv_buf_init(d->buffer, sizeof d->buffer);
}

static void on_answer(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct delivery *d = stream->data;
    if (n > 0 && d->answer.n < ANSWER_MAX)
        str_add_n(&d->answer, buf->base, (size_t)n);
    if (n >= 0)
        return;
    uv_read_stop(stream);
    d->closed = true;
    finish_if_over(d);
}

static void on_late(uv_timer_t *timer)
{
    struct delivery *d = timer->data;
    /* With what it has started. */
    uv_kill(-d->process.pid, SIGKILL);
    d->answer.n = 0;
}

/* ---- the begin of a delivery ----------------------------------------------- */

static void on_written(uv_write_t *write, int status)
{
    struct delivery *d = write->data;
    (void)status; /* its answer says more */
    if (!uv_is_closing((uv_handle_t *)&d->in))
        uv_close((uv_handle_t *)&d->in, on_handle_closed);
}

static void init_handles(struct delivery *d)
{
    uv_loop_t *loop = d->y->loop;
    uv_pipe_init(loop, &d->in, 0);
    uv_pipe_init(loop, &d->out, 0);
    uv_timer_init(loop, &d->limit);
    d->process.data = d->in.data = d->out.data = d->limit.data = d->write.data = d;
    d->handles = 4;
}

static void start(struct yard *y, struct delivery *d)
{
    char *words[] = {"trainyard", "deliver", NULL};
    uv_stdio_container_t streams[] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&d->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&d->out},
        {.flags = UV_IGNORE}};
    uv_process_options_t options = {.exit_cb = on_ended,
                                    .file = "/proc/self/exe",
                                    .args = words,
                                    .flags = UV_PROCESS_DETACHED, /* a group of its own */
                                    .stdio_count = COUNT_OF(streams),
                                    .stdio = streams};
    d->y = y;
    d->next = y->notices.first;
    y->notices.first = d;
    init_handles(d);
    int rc = uv_spawn(y->loop, &d->process, &options);
    if (rc < 0) {
        str_addf(&d->answer, "cannot start a process: %s", uv_strerror(rc));
        finish(d);
        return;
    }
    uv_buf_t input = uv_buf_init(d->input, (unsigned)strlen(d->input));
    uv_read_start((uv_stream_t *)&d->out, give_buffer, on_answer);
    uv_write(&d->write, (uv_stream_t *)&d->in, &input, 1, on_written);
    uv_timer_start(&d->limit, on_late, LIMIT_MS, 0);
}

static char *print_input(const struct notice_row *row)
{
    json_t *message = json_loads(row->message, 0, NULL);
    json_object_set_new(message, "id", json_integer((json_int_t)row->id));
    json_auto_t *all = json_pack("{s:s, s:s, s:o}", "target", row->target, "secret", row->secret,
                                 "message", message);
    return json_dumps(all, JSON_COMPACT);
}

/* ---- the outbox ------------------------------------------------------------ */

struct round {
    struct yard *y;
    unsigned under_way;
    usec_t next; /* wall clock; USEC_NEVER = nothing is left */
    VEC(struct delivery *) begin;
};

static bool is_under_way(const struct yard *y, int64_t id)
{
    const struct delivery *d = y->notices.first;
    while (d && d->id != id)
        d = d->next;
    return d;
}

static int consider(void *ctx, const struct notice_row *row, struct err *err)
{
    struct round *r = ctx;
    struct str shown = {0};
    (void)err;
    if (is_under_way(r->y, row->id))
        return 0;
    if (row->due > clock_wall(&r->y->clock)) {
        r->next = row->due;
        return 1;
    }
    if (r->under_way >= AT_ONCE)
        return 1; /* looked at again when one has ended */
    r->under_way++;
    notice_target_show(row->target, &shown);
    struct delivery *d = xcalloc(1, sizeof *d);
    *d = (struct delivery){.id = row->id,
                           .tries = row->tries,
                           .created = row->created,
                           .shown = shown.at ? shown.at : xstrdup("?"),
                           .input = print_input(row)};
    VEC_PUSH(&r->begin, d);
    return 0;
}

static void look(uv_timer_t *timer)
{
    struct yard *y = timer->data;
    struct round r = {.y = y, .next = USEC_NEVER};
    struct err err;
    for (const struct delivery *d = y->notices.first; d; d = d->next)
        r.under_way++;
    if (store_notice_list(y->store, consider, &r, &err) < 0)
        log_warning("notice: %s", err.text);
    for (size_t i = 0; i < r.begin.n; i++)
        start(y, r.begin.at[i]);
    VEC_DONE(&r.begin);
    if (r.next != USEC_NEVER && !uv_is_active((uv_handle_t *)timer)) {
        usec_t wait = r.next - clock_wall(&y->clock);
        uv_timer_start(timer, look, wait > 0 ? (uint64_t)wait / 1000 + 1 : 0, 0);
    }
}

void deliver_open(struct yard *y)
{
    if (!y->loop)
        return;
    y->notices.timer = xcalloc(1, sizeof *y->notices.timer);
    uv_timer_init(y->loop, y->notices.timer);
    y->notices.timer->data = y;
    uv_timer_start(y->notices.timer, look, 0, 0);
}

static void free_timer(uv_handle_t *handle)
{
    free(handle);
}

void deliver_close(struct yard *y)
{
    for (struct delivery *d = y->notices.first, *next; d; d = next) {
        next = d->next;
        d->y = NULL;
        if (d->process.pid > 0)
            uv_kill(-d->process.pid, SIGKILL);
        close_handles(d);
    }
    y->notices.first = NULL;
    if (y->notices.timer)
        uv_close((uv_handle_t *)y->notices.timer, free_timer);
    y->notices.timer = NULL;
}

void deliver_committed(struct yard *y)
{
    if (y->notices.fresh && y->notices.timer)
        uv_timer_start(y->notices.timer, look, 0, 0);
    y->notices.fresh = false;
}
