/* Owns the endpoint that reads logs: which attempt, from which byte, whole or in part. The
 * log is read from disk while it is sent. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "http/content.h"
#include "http/range.h"
#include "protocol/logread.h"
#include "server/api/call.h"
#include "server/api/log_follow.h"
#include "server/api/log_search.h"
#include "server/api/log_tail.h"
#include "server/api/parts.h"
#include "server/followers.h"
#include "server/jobs/attempts.h"
#include "store/jobs.h"

enum { TAIL_LINES_MAX = 1000000 };

enum { LOGS_ATTEMPT, LOGS_OFFSET, LOGS_TAIL, LOGS_SCREEN, LOGS_FOLLOW };

static const struct api_query logs_query[] = {
    [LOGS_ATTEMPT] = {"attempt", QUERY_INTEGER,
                      .help = "Number of the attempt; by default the last", .min = 1,
                      .max = UINT32_MAX},
    [LOGS_OFFSET] = {"offset", QUERY_INTEGER, .help = "First byte", .max = INT64_MAX},
    [LOGS_TAIL] = {"tail", QUERY_INTEGER,
                   .help = "Only the last lines, searched for in the last 64 MiB",
                   .max = TAIL_LINES_MAX},
    [LOGS_SCREEN] = {"screen", QUERY_FLAG,
                     .help =
                         "With tail, at most 10000: the lines as a terminal shows them, so that "
                         "a bar that is redrawn is one line"},
    [LOGS_FOLLOW] = {"follow", QUERY_FLAG,
                     .help = "Continue until the job ends, including later attempts"},
    {0},
};

static int see_attempt(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(uint32_t *)ctx = row->attempt;
    return 0;
}

/* The requested attempt, or the last one; attempt 1 for a job that has none yet. */
static bool choose_attempt(const struct api_call *c, uint32_t *out)
{
    const struct live_job *j = yard_live(c->yard, c->job);
    int64_t asked = c->query[LOGS_ATTEMPT].number;
    uint32_t last = j ? j->row.attempt : 0;
    struct err err;
    if (!j && store_job_get(c->yard->store, c->job, see_attempt, &last, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        return false;
    }
    if (asked > (last ? last : 1)) {
        err_set(&err, ERR_NOT_FOUND, "job %lld has no attempt %lld; its last one is %u",
                (long long)c->job, (long long)asked, last);
        reply_problem(c->reply, &err, "attempt");
        return false;
    }
    *out = asked ? (uint32_t)asked : last ? last : 1;
    return true;
}

static int open_log(const struct yard *y, int64_t job, uint32_t attempt, struct log_span *out,
                    struct err *err)
{
    AUTO_FREE char *path = attempt_dir(y, job, attempt);
    *out = (struct log_span){.dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (out->dir < 0)
        return errno == ENOENT ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (logread_span(out->dir, ATTEMPT_LOG_MAX, &out->first, &out->end, err) == 0)
        return 0;
    close(out->dir);
    return -1;
}

/* ---- the first byte -------------------------------------------------------- */

static int find_start(const struct log_span *l, const struct api_value *query, int64_t *out,
                      const char **field, struct err *err)
{
    int64_t offset = query[LOGS_OFFSET].number;
    *out = l->first;
    if (query[LOGS_TAIL].given)
        return l->dir < 0 ? 0 : log_tail_find(l, query[LOGS_TAIL].number, out, err);
    if (offset > l->end) {
        *field = "offset";
        return err_set(err, ERR_INVALID, "offset: %lld is past the end; the log has %lld bytes",
                       (long long)offset, (long long)l->end);
    }
    if (offset > l->first)
        *out = offset;
    return 0;
}

/* ---- the reply ------------------------------------------------------------- */

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

/* Whether its first bytes can be read: once the reply has begun, it can only break off. */
static int try_log(const struct log_span *l, int64_t start, struct err *err)
{
    char byte;
    size_t got;
    return l->dir < 0 || start == l->end
               ? 0
               : logread(l->dir, ATTEMPT_LOG_MAX, &start, &byte, 1, &got, err);
}

/* Takes ownership of l->dir. */
static void send_log(const struct api_call *c, const struct log_span *l, int64_t start)
{
    struct log_source *s = xmalloc(sizeof *s);
    uint64_t first = 0, n = 0, size = (uint64_t)(l->end - start);
    *s = (struct log_source){l->dir, start};
    const char *range =
        request_header(c->request, "If-Range") ? NULL : request_header(c->request, "Range");
    if (http_range_parse(range, size, &first, &n) != HTTP_RANGE_PART)
        first = 0;
    set_offset_header(c->reply, start + (int64_t)first);
    reply_source(c->reply, "text/plain",
                 &(struct reply_source){size, read_source, close_source, s});
}

/* The reply says where the log goes on. */
static void send_screen(const struct api_call *c, const struct log_span *l)
{
    struct str text = {0};
    struct err err;
    if (l->dir >= 0 && log_tail_show(l, (unsigned)c->query[LOGS_TAIL].number, &text, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
    } else {
        set_offset_header(c->reply, l->end);
        reply_text(c->reply, 200, "text/plain", text.at ? text.at : "");
    }
    str_done(&text);
}

static bool check_parts(const struct api_call *c)
{
    const struct api_value *q = c->query;
    if (q[LOGS_OFFSET].given && q[LOGS_TAIL].given)
        api_refuse(c, "tail", "give either tail or offset, not both");
    else if (q[LOGS_SCREEN].number && !q[LOGS_TAIL].given)
        api_refuse(c, "screen", "screen needs tail");
    else if (q[LOGS_SCREEN].number && q[LOGS_TAIL].number > LOG_TAIL_SHOWN)
        api_refuse(c, "tail", "with screen at most 10000 lines");
    else if (q[LOGS_SCREEN].number && q[LOGS_FOLLOW].number)
        api_refuse(c, "screen", "a log that is followed is sent as it is");
    else
        return true;
    return false;
}

static void show_log(const struct api_call *c)
{
    struct log_span l;
    struct err err;
    const char *field = NULL;
    uint32_t attempt;
    int64_t start;
    if (!check_parts(c))
        return;
    if (!choose_attempt(c, &attempt))
        return;
    if (open_log(c->yard, c->job, attempt, &l, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        return;
    }
    if (c->query[LOGS_SCREEN].number) {
        send_screen(c, &l);
    } else if (find_start(&l, c->query, &start, &field, &err) < 0 || try_log(&l, start, &err) < 0) {
        reply_problem(c->reply, &err, field);
    } else if (!c->query[LOGS_FOLLOW].number) {
        send_log(c, &l, start);
        return;
    } else {
        set_offset_header(c->reply, start);
        log_follow(c->yard, c->reply, c->job, attempt, start);
    }
    if (l.dir >= 0)
        close(l.dir);
}

/* ---- search ---------------------------------------------------------------- */

enum { SEARCH_ATTEMPT = LOGS_ATTEMPT, SEARCH_TEXT, SEARCH_FROM };

static const struct api_query search_query[] = {
    [SEARCH_ATTEMPT] = {"attempt", QUERY_INTEGER,
                        .help = "Number of the attempt; by default the last", .min = 1,
                        .max = UINT32_MAX},
    [SEARCH_TEXT] = {"text", QUERY_TEXT,
                     .help = "What to look for, at most 200 bytes; the case of letters does not "
                             "matter",
                     .example = "\"error\""},
    [SEARCH_FROM] = {"from", QUERY_INTEGER, .help = "Where to begin: 0, or `next` of a reply",
                     .max = INT64_MAX},
    {0},
};

static const struct api_member found_members[] = {
    API_MEMBER("lines", "integer[]", "Offsets at which lines begin that have the text"),
    API_MEMBER("next", "integer|null", "Where the search goes on; null = all was searched"),
    {0},
};

static const struct api_schema found_schema = {"LogFound", .members = found_members};

static void reply_found(const struct api_call *c, const struct log_found *f)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < f->n; i++)
        json_array_append_new(lines, json_integer(f->at[i]));
    reply_json(c->reply, 200,
               json_pack("{s:o, s:o}", "lines", lines, "next",
                         f->next < 0 ? json_null() : json_integer(f->next)));
}

static void search_log(const struct api_call *c)
{
    const char *text = c->query[SEARCH_TEXT].text;
    struct log_found *found = NULL;
    struct log_span l;
    struct err err;
    uint32_t attempt;
    if (!text || !*text || strlen(text) > LOG_SEARCH_TEXT) {
        api_refuse(c, "text", "give a text of 1 to 200 bytes");
        return;
    }
    if (!choose_attempt(c, &attempt))
        return;
    if (open_log(c->yard, c->job, attempt, &l, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        return;
    }
    found = xmalloc(sizeof *found);
    if (log_search(&l, text, c->query[SEARCH_FROM].number, found, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        reply_found(c, found);
    free(found);
    if (l.dir >= 0)
        close(l.dir);
}

static const struct api_schema *const schemas[] = {&found_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "job_log_search",
        .method = "GET",
        .path = API_V1 "/jobs/{id}/logs/search",
        .handle = search_log,
        .summary = "Search the log of a job",
        .description = "A reply covers at most 8 MiB and 1000 lines; ask again from `next`.",
        .query = search_query,
        .replies = {{200, "LogFound", "What was found"}},
    },
    {
        .name = "job_logs",
        .method = "GET",
        .path = API_V1 "/jobs/{id}/logs",
        .handle = show_log,
        .summary = "Read what a job wrote to stdout and stderr",
        .description = "The header Range selects a part, unless the log is followed.",
        .query = logs_query,
        .replies = {{200, "text/plain", "The log"}, {206, "text/plain", "A part of the log"}},
        .header = "X-Log-Offset",
        .header_help = "Offset of the first byte sent. It is larger than the requested one if "
                       "the oldest bytes were removed. With screen, the end of the log.",
        .errors = {416},
    },
    {0},
};

const struct api_part api_part_logs = {"Jobs", endpoints, schemas};
