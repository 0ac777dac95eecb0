/* Owns the parsing of Range. */
#include "http/range.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Parses digits at *p; a number that is too large becomes the largest. False without digits. */
static bool parse_position(const char **p, uint64_t *out)
{
    bool too_large = false;
    if (!isdigit((unsigned char)**p))
        return false;
    for (*out = 0; isdigit((unsigned char)**p); (*p)++)
        too_large |= __builtin_mul_overflow(*out, 10u, out) ||
                     __builtin_add_overflow(*out, (uint64_t)(**p - '0'), out);
    if (too_large)
        *out = UINT64_MAX;
    return true;
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static enum http_range_result last_bytes(uint64_t count, uint64_t size, uint64_t *first,
                                         uint64_t *n)
{
    if (count == 0 || size == 0)
        return HTTP_RANGE_NONE;
    *n = count < size ? count : size;
    *first = size - *n;
    return HTTP_RANGE_PART;
}

enum http_range_result http_range_parse(const char *header, uint64_t size, uint64_t *first,
                                        uint64_t *n)
{
    uint64_t from, to = UINT64_MAX;
    if (!header || strncasecmp(header, "bytes", 5) != 0)
        return HTTP_RANGE_WHOLE;
    const char *p = skip_blanks(header + 5);
    if (*p++ != '=')
        return HTTP_RANGE_WHOLE;
    p = skip_blanks(p);
    bool suffix = *p == '-';
    p += suffix;
    if (!parse_position(&p, &from))
        return HTTP_RANGE_WHOLE;
    if (!suffix) {
        if (*p++ != '-' || (!parse_position(&p, &to) && *p && *p != ' ') || to < from)
            return HTTP_RANGE_WHOLE;
    }
    if (*skip_blanks(p))
        return HTTP_RANGE_WHOLE;
    if (suffix)
        return last_bytes(from, size, first, n);
    if (from >= size)
        return HTTP_RANGE_NONE;
    *first = from;
    *n = (to < size ? to : size - 1) - from + 1;
    return HTTP_RANGE_PART;
}
