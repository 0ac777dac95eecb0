/* Owns requests that follow a log. The log is read when the kernel reports a change in the
 * attempt's directory, when the stream's buffer has drained, and when the job has changed. A
 * slow client costs no memory: it gets the rest from disk later. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "http/reply.h"
#include "http/stream.h"
#include "protocol/logread.h"
#include "server/api/log_follow.h"
#include "server/followers.h"
#include "server/jobs/attempts.h"
#include "server/log.h"
#include "store/job_state.h"
#include "store/jobs.h"

enum { BLOCK = 64 << 10 };
/* The directory of an attempt appears at the end of the turn that creates the attempt. */
enum { LOOK_AGAIN_MS = 20 };

struct log_follower {
    struct yard *y;
    struct stream *stream;
    struct log_follower *prev, *next;
    int64_t job;
    uint32_t attempt;
    int64_t offset;
    int dir;   /* of the attempt; -1 = does not exist yet */
    bool full; /* the stream's buffer; sending continues when it has drained */
    uv_fs_event_t watch;
    uv_timer_t again;
    unsigned handles; /* not yet closed by libuv */
};

static void send_log(struct log_follower *f);

/* ---- end ------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct log_follower *f = handle->data;
    if (--f->handles == 0)
        free(f);
}

/* Call when the stream has ended. */
static void remove_follower(struct log_follower *f)
{
    struct followers *all = f->y->followers;
    if (f->prev)
        f->prev->next = f->next;
    else
        all->logs = f->next;
    if (f->next)
        f->next->prev = f->prev;
    if (f->dir >= 0)
        close(f->dir);
    f->dir = -1;
    f->stream = NULL;
    uv_close((uv_handle_t *)&f->watch, on_handle_closed);
    uv_close((uv_handle_t *)&f->again, on_handle_closed);
}

static void end_stream(struct log_follower *f)
{
    stream_end(f->stream);
    remove_follower(f);
}

/* ---- directories ----------------------------------------------------------- */

static void on_change(uv_fs_event_t *watch, const char *name, int events, int status)
{
    (void)events;
    if (status == 0 && (!name || !strncmp(name, "log", 3)))
        send_log(watch->data);
}

static void on_again(uv_timer_t *timer)
{
    send_log(timer->data);
}

/* Tells the client, in the log itself, why the log does not continue. */
static void give_up(struct log_follower *f, const char *text)
{
    char line[256];
    int n = snprintf(line, sizeof line, "\n[trainyard: cannot follow the log: %s]\n", text);
    log_warning("job=%lld attempt=%u follow: %s", (long long)f->job, f->attempt, text);
    (void)stream_write(f->stream, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    end_stream(f);
}

/* Starts to watch the directory before the first read, so that no change is missed. Returns
 * false if it does not exist; if it cannot be opened, also ends the stream and sets *gone. */
static bool open_dir(struct log_follower *f, bool *gone)
{
    AUTO_FREE char *path = attempt_dir(f->y, f->job, f->attempt);
    f->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f->dir < 0) {
        *gone = errno != ENOENT;
        if (*gone)
            give_up(f, strerror(errno));
        return false;
    }
    int rc = uv_fs_event_start(&f->watch, on_change, path, 0);
    if (rc == 0)
        return true;
    *gone = true;
    give_up(f, rc == UV_ENOSPC ? "too many watched files; raise fs.inotify.max_user_watches"
                               : uv_strerror(rc));
    return false;
}

static void close_dir(struct log_follower *f)
{
    uv_fs_event_stop(&f->watch);
    if (f->dir >= 0)
        close(f->dir);
    f->dir = -1;
}

/* ---- reading --------------------------------------------------------------- */

/* Returns false if the buffer is full or the stream has ended. */
static bool send_block(struct log_follower *f, bool *more)
{
    AUTO_FREE char *block = xmalloc(BLOCK);
    struct err err;
    size_t got;
    int64_t at = f->offset;
    if (logread(f->dir, ATTEMPT_LOG_MAX, &at, block, BLOCK, &got, &err) < 0) {
        give_up(f, err.text);
        return false;
    }
    if (at != f->offset) {
        char line[80];
        int n = snprintf(line, sizeof line, "\n[trainyard: %lld bytes were removed]\n",
                         (long long)(at - f->offset));
        f->full = stream_write(f->stream, line, (size_t)n) < (size_t)n;
        f->offset = at;
    }
    size_t taken = f->full ? 0 : stream_write(f->stream, block, got);
    f->offset += (int64_t)taken;
    f->full |= taken < got;
    *more = got > 0;
    return !f->full;
}

struct job_end {
    uint32_t attempt; /* the last one */
    bool over;
};

static int read_end(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(struct job_end *)ctx = (struct job_end){row->attempt, job_state_over(row->state)};
    return 0;
}

static struct job_end find_end(const struct log_follower *f)
{
    const struct live_job *j = yard_live(f->y, f->job);
    struct job_end end = {.over = true};
    if (j)
        end = (struct job_end){j->row.attempt, false};
    else
        (void)store_job_get(f->y->store, f->job, read_end, &end, NULL);
    return end;
}

/* Whether the rest of this attempt's log is still being copied from its node. */
static bool is_copied(const struct log_follower *f)
{
    const struct attempt *a =
        attempt_find(f->y, (struct attempt_id){.job = f->job, .n = f->attempt});
    return !a || !a->leaves || !a->fetch;
}

/* Sends what the log has, continues with the next attempt, and ends with the job. */
static void send_log(struct log_follower *f)
{
    bool more = true, gone = false;
    if (!f->stream || f->full)
        return;
    for (;;) {
        if (f->dir >= 0 || open_dir(f, &gone))
            for (more = true; more;)
                if (!send_block(f, &more))
                    return;
        if (gone || !is_copied(f))
            return;
        struct job_end end = find_end(f);
        if (end.attempt > f->attempt) {
            close_dir(f);
            f->attempt++;
            f->offset = 0;
            continue;
        }
        if (end.over)
            end_stream(f);
        else if (f->dir < 0 && end.attempt == f->attempt)
            uv_timer_start(&f->again, on_again, LOOK_AGAIN_MS, 0);
        return;
    }
}

/* ---- streams --------------------------------------------------------------- */

static void on_drained(struct stream *s, void *ctx)
{
    struct log_follower *f = ctx;
    (void)s;
    f->full = false;
    send_log(f);
}

static void on_closed(struct stream *s, void *ctx)
{
    (void)s;
    remove_follower(ctx);
}

void log_follow(struct yard *y, struct reply *reply, int64_t job, uint32_t attempt, int64_t offset)
{
    static const struct stream_ops ops = {on_drained, on_closed};
    struct followers *all = y->followers;
    struct log_follower *f = xcalloc(1, sizeof *f);
    *f = (struct log_follower){.y = y,
                               .job = job,
                               .attempt = attempt,
                               .offset = offset,
                               .dir = -1,
                               .full = true, /* until the stream reports that it has drained */
                               .next = all->logs,
                               .handles = 2};
    f->stream = reply_stream(reply, "text/plain", &ops, f);
    if (!f->stream) {
        free(f);
        return;
    }
    uv_fs_event_init(y->loop, &f->watch);
    uv_timer_init(y->loop, &f->again);
    f->watch.data = f->again.data = f;
    if (all->logs)
        all->logs->prev = f;
    all->logs = f;
}

bool log_follow_wants(const struct yard *y, int64_t job)
{
    for (const struct log_follower *f = y->followers->logs; f; f = f->next)
        if (f->job == job)
            return true;
    return false;
}

void log_follow_poke(struct yard *y, int64_t job)
{
    struct log_follower *next;
    for (struct log_follower *f = y->followers->logs; f; f = next) {
        next = f->next;
        if (!job || f->job == job)
            send_log(f);
    }
}

void log_follow_done(struct yard *y)
{
    while (y->followers->logs)
        end_stream(y->followers->logs);
}
