/* Owns the search of logs. Blocks are read with an overlap, so that a text which lies across the
 * end of one is found in the next. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "server/api/log_search.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "protocol/logread.h"
#include "server/jobs/attempts.h"

enum { BLOCK = 256 << 10 };
#define SEARCH_BYTES_MAX (8LL << 20)

static void lower(char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)tolower((unsigned char)bytes[i]);
}

struct scan {
    char text[LOG_SEARCH_TEXT + 1];
    size_t text_n;
    int64_t line; /* where the current line begins, as far as is known */
    bool marked;  /* it has been found already */
};

/* Follows the lines up to `to`; `bytes` begin at the offset `at`. */
static void follow_lines(struct scan *s, const char *bytes, int64_t at, size_t from, size_t to)
{
    const char *end = to > from ? memrchr(bytes + from, '\n', to - from) : NULL;
    if (!end)
        return;
    s->line = at + (end - bytes) + 1;
    s->marked = false;
}

/* Returns false when *out is full. */
static bool scan_block(struct scan *s, const char *bytes, int64_t at, size_t n,
                       struct log_found *out)
{
    size_t from = 0;
    const char *hit;
    while ((hit = memmem(bytes + from, n - from, s->text, s->text_n))) {
        size_t where = (size_t)(hit - bytes);
        follow_lines(s, bytes, at, from, where);
        if (!s->marked) {
            if (out->n == LOG_FOUND_MAX)
                return false;
            out->at[out->n++] = s->line;
            s->marked = true;
        }
        from = where + 1;
    }
    follow_lines(s, bytes, at, from, n >= s->text_n ? n - s->text_n + 1 : from);
    return true;
}

int log_search(const struct log_span *l, const char *text, int64_t from, struct log_found *out,
               struct err *err)
{
    AUTO_FREE char *block = xmalloc(BLOCK);
    int64_t at = from > l->first ? from : l->first, began = at;
    struct scan s = {.text_n = strnlen(text, LOG_SEARCH_TEXT), .line = at};
    memcpy(s.text, text, s.text_n);
    lower(s.text, s.text_n);
    out->n = 0;
    out->next = -1;
    while (l->dir >= 0 && at < l->end) {
        int64_t start = at;
        size_t got, want = l->end - at < BLOCK ? (size_t)(l->end - at) : BLOCK;
        if (logread(l->dir, ATTEMPT_LOG_MAX, &start, block, want, &got, err) < 0)
            return -1;
        if (start != at)
            s.line = start; /* the oldest bytes were removed in the meantime */
        lower(block, got);
        if (!scan_block(&s, block, start, got, out)) {
            out->next = s.line;
            return 0;
        }
        if (got < s.text_n || start + (int64_t)got >= l->end)
            return 0;
        at = start + (int64_t)(got - (s.text_n - 1));
        if (at - began >= SEARCH_BYTES_MAX) {
            out->next = s.line > began ? s.line : at;
            return 0;
        }
    }
    return 0;
}
