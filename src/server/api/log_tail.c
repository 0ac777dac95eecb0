/* Owns reading a log from its end. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "server/api/log_tail.h"

#include <string.h>

#include "base/mem.h"
#include "progress/screen.h"
#include "protocol/logread.h"
#include "server/jobs/attempts.h"

enum { BLOCK = 256 << 10, LINE_MAX_BYTES = 64 << 10, SHOWN_MAX_BYTES = 8 << 20 };
/* How far back the last lines are searched for. */
#define TAIL_BYTES_MAX (64LL << 20)

static int64_t floor_of(const struct log_span *l)
{
    return l->end - l->first > TAIL_BYTES_MAX ? l->end - TAIL_BYTES_MAX : l->first;
}

/* Reads the block that ends at `at`, and moves `at` to its beginning; *got = 0 when it was removed
 * in the meantime. */
static int read_before(const struct log_span *l, int64_t *at, char *block, size_t *got,
                       struct err *err)
{
    int64_t floor = floor_of(l), from = *at - floor > BLOCK ? *at - BLOCK : floor, start = from;
    size_t want = (size_t)(*at - from);
    if (logread(l->dir, ATTEMPT_LOG_MAX, &start, block, want, got, err) < 0)
        return -1;
    if (start != from || *got < want)
        *got = 0;
    else
        *at = from;
    return 0;
}

int log_tail_find(const struct log_span *l, int64_t lines, int64_t *out, struct err *err)
{
    AUTO_FREE char *block = xmalloc(BLOCK);
    int64_t left = lines, at = l->end, floor = floor_of(l);
    while (left && at > floor) {
        size_t got;
        if (read_before(l, &at, block, &got, err) < 0)
            return -1;
        if (!got)
            break;
        for (size_t i = got; i-- > 0 && left;)
            if (block[i] == '\n' && at + (int64_t)i + 1 < l->end && --left == 0)
                at += (int64_t)i + 1;
    }
    *out = at;
    return 0;
}

/* ---- as a terminal shows it ------------------------------------------------------------ */

/* Bytes that are gathered from the end towards the beginning. */
struct gather {
    char *bytes;
    size_t size, from; /* what is there begins at `from` */
    size_t in_line;    /* bytes of the line that is being gathered */
    unsigned lines;    /* line ends that are still wanted */
};

static void prepend(struct gather *g, const char *bytes, size_t n)
{
    if (!n)
        return;
    if (n > g->from) {
        size_t used = g->size - g->from, size = 2 * g->size + n;
        char *larger = xmalloc(size);
        if (used)
            memcpy(larger + size - used, g->bytes + g->from, used);
        free(g->bytes);
        g->bytes = larger;
        g->from = size - used;
        g->size = size;
    }
    g->from -= n;
    memcpy(g->bytes + g->from, bytes, n);
}

/* Takes the end of a part of the current line, as far as there is room for it. */
static void gather_part(struct gather *g, const char *part, size_t n)
{
    size_t room = LINE_MAX_BYTES - g->in_line, take = n < room ? n : room;
    prepend(g, part + n - take, take);
    g->in_line += take;
}

/* False when there is enough. */
static bool gather_block(struct gather *g, const char *block, size_t n)
{
    while (n) {
        const char *end = memrchr(block, '\n', n);
        const char *line = end ? end + 1 : block;
        gather_part(g, line, (size_t)(block + n - line));
        if (!end)
            break;
        if (g->lines-- == 0)
            return false;
        prepend(g, "\n", 1);
        g->in_line = 0;
        n = (size_t)(end - block);
    }
    return g->size - g->from < SHOWN_MAX_BYTES;
}

int log_tail_show(const struct log_span *l, unsigned lines, struct str *out, struct err *err)
{
    struct gather g = {.lines = lines};
    AUTO_FREE char *block = xmalloc(BLOCK);
    int64_t at = l->end, floor = floor_of(l);
    int rc = 0;
    for (bool more = lines > 0; more && at > floor;) {
        size_t got = 0;
        rc = read_before(l, &at, block, &got, err);
        more = rc == 0 && got && gather_block(&g, block, got);
    }
    if (rc == 0)
        progress_screen_tail(g.bytes + g.from, g.size - g.from, lines, out);
    free(g.bytes);
    return rc;
}
