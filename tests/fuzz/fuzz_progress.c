/* Owns the fuzzing of the recogniser: arbitrary output and an arbitrary progress
 * file, whole and in pieces, and arbitrary patterns. The first byte says what the
 * rest is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conductor/follow.h"
#include "progress/pattern.h"
#include "progress/progress.h"
#include "protocol/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

/* Whatever is recognised can be told to the server. */
static void tell(const struct progress *p)
{
    struct to_server m = {.kind = TO_SERVER_PROGRESS}, heard;
    struct arena arena = {0};
    struct str line = {0};
    struct err err;
    follow_report(p, &m.progress);
    m.progress.seq = 1;
    to_server_encode(&m, &line);
    demand(line.n <= MESSAGE_MAX_BYTES);
    demand(to_server_decode(line.at, line.n, &arena, &heard, &err) == 0);
    demand(heard.kind == TO_SERVER_PROGRESS && heard.progress.metrics.n == m.progress.metrics.n);
    str_done(&line);
    arena_done(&arena);
}

static void check(const struct progress *was, const struct progress *p)
{
    demand(p->seq >= was->seq && p->n_metrics <= PROGRESS_METRICS);
    demand(!(p->has & PROGRESS_STEP) || (p->step >= 0 && p->source));
    demand(!(p->has & PROGRESS_TOTAL) || !(p->has & PROGRESS_STEP) || p->total >= p->step);
    for (unsigned i = 0; i < p->n_metrics; i++)
        demand(p->metric[i].name[0] && memchr(p->metric[i].name, '\0', PROGRESS_NAME));
}

static struct progress_reader *reader(void)
{
    struct progress_reader *r = NULL;
    demand(progress_create(&(struct progress_config){0}, &r, NULL) == 0);
    return r;
}

typedef bool (*feed_fn)(struct progress_reader *r, const char *bytes, size_t n);

/* Whole and in pieces of some bytes the same is known in the end. */
static void read_both_ways(feed_fn feed, const char *text, size_t n, size_t piece)
{
    struct progress_reader *whole = reader(), *parts = reader();
    struct progress was = {0};
    demand(feed(whole, text, n) == (progress_now(whole)->seq > 0));
    for (size_t i = 0; i < n; i += piece) {
        feed(parts, text + i, n - i < piece ? n - i : piece);
        check(&was, progress_now(parts));
        was = *progress_now(parts);
    }
    demand(progress_now(whole)->seq == progress_now(parts)->seq);
    demand(progress_now(whole)->step == progress_now(parts)->step);
    demand(progress_now(whole)->total == progress_now(parts)->total);
    progress_settle(whole);
    check(&was, progress_now(whole));
    tell(progress_now(whole));
    progress_problem(whole);
    progress_free(whole);
    progress_free(parts);
}

/* A pattern up to the first newline, then the output. */
static void read_with_pattern(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);
    size_t length = end ? (size_t)(end - text) : n;
    AUTO_FREE char *pattern = xstrndup(text, length);
    struct progress_reader *r = NULL;
    struct err err = {0};
    if (progress_create(&(struct progress_config){.pattern = pattern}, &r, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0] && !r);
        demand(progress_pattern_check(pattern, NULL) < 0);
        return;
    }
    struct progress was = {0};
    if (end)
        progress_feed(r, end + 1, n - length - 1);
    progress_settle(r);
    check(&was, progress_now(r));
    tell(progress_now(r));
    progress_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const char *text = (const char *)data + 1;
    if (data[0] % 4 == 0)
        read_with_pattern(text, size - 1);
    else if (data[0] % 4 == 1)
        read_both_ways(progress_feed_file, text, size - 1, 1 + data[0] / 4);
    else
        read_both_ways(progress_feed, text, size - 1, 1 + data[0] / 4);
    return 0;
}
