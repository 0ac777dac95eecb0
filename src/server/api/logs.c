/* Owns what is told of a log: which attempt, from where on, as a whole or in part. The
 * bytes are read while they are sent. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conductor/logread.h"
#include "http/content.h"
#include "http/range.h"
#include "server/api/handlers.h"
#include "server/followers.h"
#include "server/jobs/attempts.h"
#include "store/jobs.h"

enum { BLOCK = 256 << 10, TAIL_LINES_MAX = 1000000 };
/* How far back lines are looked for. */
#define TAIL_BYTES_MAX (64LL << 20)

struct asked {
    int64_t job;
    int64_t attempt;      /* 0 = the last one */
    int64_t offset, tail; /* -1 = not given */
    bool follow;
};

/* A log as it is when the request comes. */
struct log_state {
    int dir; /* -1 = there is none */
    int64_t first, end;
};

static bool read_query(struct yard *y, const struct request *q, struct reply *r, struct asked *a)
{
    struct err err;
    *a = (struct asked){.offset = -1, .tail = -1};
    if (!api_check_query(q, r) || !api_find_job(y, q, r, &a->job) ||
        !api_get_int(q, r, "attempt", 1, UINT32_MAX, &a->attempt) ||
        !api_get_int(q, r, "offset", 0, INT64_MAX, &a->offset) ||
        !api_get_int(q, r, "tail", 0, TAIL_LINES_MAX, &a->tail) ||
        !api_get_flag(q, r, "follow", &a->follow))
        return false;
    if (a->offset < 0 || a->tail < 0)
        return true;
    err_set(&err, ERR_INVALID, "tail: give this or offset, not both");
    reply_problem(r, &err, "tail");
    return false;
}

static int see_attempt(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(uint32_t *)ctx = row->attempt;
    return 0;
}

/* The attempt that is asked for; the first, of a job that has none yet. */
static bool choose_attempt(struct yard *y, struct reply *r, struct asked *a)
{
    const struct live_job *j = yard_live(y, a->job);
    uint32_t last = j ? j->row.attempt : 0;
    struct err err;
    if (!j && store_job_get(y->store, a->job, see_attempt, &last, &err) < 0) {
        reply_problem(r, &err, NULL);
        return false;
    }
    if (a->attempt > last) {
        err_set(&err, ERR_NOT_FOUND, "job %lld has no attempt %lld; it has had %u",
                (long long)a->job, (long long)a->attempt, last);
        reply_problem(r, &err, "attempt");
        return false;
    }
    if (!a->attempt)
        a->attempt = last ? last : 1;
    return true;
}

static int open_log(const struct yard *y, const struct asked *a, struct log_state *out,
                    struct err *err)
{
    AUTO_FREE char *path = attempt_dir(y, a->job, (uint32_t)a->attempt);
    *out = (struct log_state){.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (out->dir < 0)
        return errno == ENOENT ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (logread_span(out->dir, ATTEMPT_LOG_MAX, &out->first, &out->end, err) == 0)
        return 0;
    close(out->dir);
    return -1;
}

/* ---- where it begins ------------------------------------------------------- */

/* Looks back for the line ends before the last lines. */
static int find_tail(const struct log_state *l, int64_t lines, int64_t *out, struct err *err)
{
    AUTO_FREE char *block = xmalloc(BLOCK);
    int64_t floor = l->end - l->first > TAIL_BYTES_MAX ? l->end - TAIL_BYTES_MAX : l->first;
    int64_t left = lines, at = l->end;
    while (left && at > floor) {
        int64_t from = at - floor > BLOCK ? at - BLOCK : floor, start = from;
        size_t got;
        if (logread(l->dir, ATTEMPT_LOG_MAX, &start, block, (size_t)(at - from), &got, err) < 0)
            return -1;
        /* Removed meanwhile: what is behind it is all there is. */
        if (start != from || got < (size_t)(at - from))
            break;
        for (size_t i = got; i-- > 0 && left;)
            if (block[i] == '\n' && from + (int64_t)i + 1 < l->end && --left == 0)
                at = from + (int64_t)i + 1;
        if (left)
            at = from;
    }
    *out = at;
    return 0;
}

static int find_start(const struct log_state *l, const struct asked *a, int64_t *out,
                      const char **field, struct err *err)
{
    *out = l->first;
    if (a->tail >= 0)
        return l->dir < 0 ? 0 : find_tail(l, a->tail, out, err);
    if (a->offset > l->end) {
        *field = "offset";
        return err_set(err, ERR_INVALID, "offset: %lld is behind the end; the log has %lld bytes",
                       (long long)a->offset, (long long)l->end);
    }
    if (a->offset > l->first)
        *out = a->offset;
    return 0;
}

/* ---- the answer ------------------------------------------------------------ */

struct log_source {
    int dir;
    int64_t start;
};

static ssize_t read_source(void *ctx, uint64_t at, char *buf, size_t n)
{
    const struct log_source *s = ctx;
    int64_t want = s->start + (int64_t)at, offset = want;
    size_t got;
    if (logread(s->dir, ATTEMPT_LOG_MAX, &offset, buf, n, &got, NULL) < 0 || offset != want || !got)
        return -1;
    return (ssize_t)got;
}

static void close_source(void *ctx)
{
    struct log_source *s = ctx;
    if (s->dir >= 0)
        close(s->dir);
    free(s);
}

static void set_offset_header(struct reply *r, int64_t offset)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)offset);
    reply_header(r, "X-Log-Offset", text);
}

/* Takes the directory. */
static void send_log(const struct request *q, struct reply *r, const struct log_state *l,
                     int64_t start)
{
    struct log_source *s = xmalloc(sizeof *s);
    uint64_t first = 0, n = 0, size = (uint64_t)(l->end - start);
    *s = (struct log_source){l->dir, start};
    const char *range = request_header(q, "If-Range") ? NULL : request_header(q, "Range");
    if (http_range_parse(range, size, &first, &n) != HTTP_RANGE_PART)
        first = 0;
    set_offset_header(r, start + (int64_t)first);
    reply_source(r, "text/plain", &(struct reply_source){size, read_source, close_source, s}, NULL);
}

void api_job_logs(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct asked a;
    struct log_state l;
    struct err err;
    const char *field = NULL;
    int64_t start;
    if (!read_query(y, q, r, &a) || !choose_attempt(y, r, &a))
        return;
    if (open_log(y, &a, &l, &err) < 0) {
        reply_problem(r, &err, NULL);
        return;
    }
    if (find_start(&l, &a, &start, &field, &err) < 0) {
        reply_problem(r, &err, field);
    } else if (!a.follow) {
        send_log(q, r, &l, start);
        return;
    } else {
        set_offset_header(r, start);
        log_follow(y, r, a.job, (uint32_t)a.attempt, start);
    }
    if (l.dir >= 0)
        close(l.dir);
}
