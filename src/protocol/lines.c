/* Owns received bytes that have not been returned as a line yet. */
#include "protocol/lines.h"

#include <string.h>

void lines_done(struct lines *l)
{
    str_done(&l->in);
    l->taken = 0;
}

void lines_add(struct lines *l, const char *bytes, size_t n)
{
    if (l->taken) {
        l->in.n -= l->taken;
        memmove(l->in.at, l->in.at + l->taken, l->in.n);
        l->taken = 0;
    }
    str_add_n(&l->in, bytes, n);
}

static const char *find_end(const struct lines *l)
{
    size_t left = l->in.n - l->taken;
    return left ? memchr(l->in.at + l->taken, '\n', left) : NULL;
}

int lines_take(struct lines *l, const char **line, size_t *n)
{
    const char *end = find_end(l);
    size_t length = end ? (size_t)(end - l->in.at) - l->taken : l->in.n - l->taken;
    if (length >= MESSAGE_MAX_BYTES)
        return -1;
    if (!end) {
        if (!length)
            lines_done(l); /* usually nothing is left to keep */
        return 0;
    }
    *line = l->in.at + l->taken;
    *n = length;
    l->taken += length + 1;
    return 1;
}

bool lines_wait(const struct lines *l)
{
    return find_end(l);
}
