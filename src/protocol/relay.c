/* Owns the encoding of the stream through a relay. Bounded like protocol/lines.h. */
#include "protocol/relay.h"

#include <string.h>

#include "protocol/lines.h"

static const char log_word[] = "log ";

void relay_done(struct relay *r)
{
    str_done(&r->in);
    r->taken = 0;
}

void relay_add(struct relay *r, const char *bytes, size_t n)
{
    if (r->taken) {
        r->in.n -= r->taken;
        memmove(r->in.at, r->in.at + r->taken, r->in.n);
        r->taken = 0;
    }
    str_add_n(&r->in, bytes, n);
}

/* A number of at most 18 digits, followed by this character. */
static int take_number(const char **p, const char *end, char last, int64_t *out)
{
    int64_t value = 0;
    int digits = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
        if (++digits > 18)
            return -1;
        value = value * 10 + (**p - '0');
    }
    if (!digits || *p == end || **p != last)
        return -1;
    (*p)++;
    *out = value;
    return 0;
}

/* A part of the log whose line ends at `newline`. */
static int take_log(struct relay *r, const char *line, const char *newline, struct relay_item *out)
{
    const char *p = line + sizeof log_word - 1, *end = r->in.at + r->in.n;
    int64_t offset, count;
    if (take_number(&p, newline + 1, ' ', &offset) < 0 ||
        take_number(&p, newline + 1, '\n', &count) < 0 || count > RELAY_PART_MAX)
        return -1;
    if (end - p < count)
        return 0;
    *out = (struct relay_item){RELAY_LOG, p, (size_t)count, offset};
    r->taken = (size_t)(p - r->in.at) + (size_t)count;
    return 1;
}

int relay_take(struct relay *r, struct relay_item *out)
{
    size_t left = r->in.n - r->taken;
    if (!left)
        return 0;
    const char *line = r->in.at + r->taken;
    const char *newline = memchr(line, '\n', left < MESSAGE_MAX_BYTES ? left : MESSAGE_MAX_BYTES);
    if (!newline)
        return left >= MESSAGE_MAX_BYTES ? -1 : 0;
    if (*line == '{') {
        *out = (struct relay_item){RELAY_MESSAGE, line, (size_t)(newline - line), 0};
        r->taken += (size_t)(newline - line) + 1;
        return 1;
    }
    return strncmp(line, log_word, sizeof log_word - 1) ? -1 : take_log(r, line, newline, out);
}

void relay_add_log(struct str *out, int64_t offset, size_t n)
{
    str_addf(out, "%s%lld %zu\n", log_word, (long long)offset, n);
}
