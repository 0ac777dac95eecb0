/* Owns text buffers, number parsing and suggestions for mistyped names. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void str_room(struct str *s, size_t more)
{
    if (s->cap - s->n > more)
        return;
    s->cap = (s->n + more + 1) * 2;
    s->at = xrealloc(s->at, s->cap);
}

void str_add_n(struct str *s, const char *text, size_t n)
{
    str_room(s, n);
    memcpy(s->at + s->n, text, n);
    s->n += n;
    s->at[s->n] = '\0';
}

void str_add(struct str *s, const char *text)
{
    str_add_n(s, text, strlen(text));
}

void str_addv(struct str *s, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        return;
    str_room(s, (size_t)n);
    vsnprintf(s->at + s->n, (size_t)n + 1, fmt, args);
    s->n += (size_t)n;
}

void str_addf(struct str *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str_addv(s, fmt, args);
    va_end(args);
}

void str_add_shell(struct str *s, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%^";
    if (*text && !text[strspn(text, plain)]) {
        str_add(s, text);
        return;
    }
    str_add(s, "'");
    for (const char *p = text; *p; p++)
        if (*p == '\'')
            str_add(s, "'\\''");
        else
            str_add_n(s, p, 1);
    str_add(s, "'");
}

void str_done(struct str *s)
{
    free(s->at);
    *s = (struct str){0};
}

/* Length of the UTF-8 sequence at p; 0 if it is invalid (also overlong forms, surrogates and
 * values past U+10FFFF). */
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

void str_add_json(struct str *s, const char *text)
{
    str_add(s, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = utf8_length(p);
        if (*p == '"' || *p == '\\')
            str_addf(s, "\\%c", *p);
        else if (*p == '\n')
            str_add(s, "\\n");
        else if (*p == '\t')
            str_add(s, "\\t");
        else if (*p < 0x20 || *p == 0x7f)
            str_addf(s, "\\u%04x", *p);
        else if (n == 0)
            str_add(s, "\\ufffd");
        else
            str_add_n(s, (const char *)p, n);
        p += n ? n : 1;
    }
    str_add(s, "\"");
}

size_t str_valid_utf8(const char *text)
{
    const char *p = text;
    for (size_t n; *p && (n = utf8_length((const unsigned char *)p));)
        p += n;
    return (size_t)(p - text);
}

void str_add_utf8(struct str *s, const char *text)
{
    for (;;) {
        size_t n = str_valid_utf8(text);
        str_add_n(s, text, n);
        if (!text[n])
            return;
        str_add(s, "\xef\xbf\xbd");
        text += n + 1;
    }
}

void str_add_html(struct str *s, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            str_add(s, "&amp;");
            break;
        case '<':
            str_add(s, "&lt;");
            break;
        case '>':
            str_add(s, "&gt;");
            break;
        case '"':
            str_add(s, "&quot;");
            break;
        case '\'':
            str_add(s, "&#39;");
            break;
        default:
            str_add_n(s, text, 1);
        }
    }
}

int str_parse_int(const char *text, int64_t lo, int64_t hi, int64_t *out, struct err *err)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)*text))
        return err_set(err, ERR_INVALID, "'%s' is not a whole number", text);
    if (errno || v < lo || v > hi)
        return err_set(err, ERR_INVALID, "%s is not between %lld and %lld", text, (long long)lo,
                       (long long)hi);
    *out = v;
    return 0;
}

int str_parse_double(const char *text, double lo, double hi, double *out, struct err *err)
{
    char *end;
    double v = strtod(text, &end);
    bool plain = isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.';
    if (end == text || *end || !plain || strpbrk(text, "xXnN"))
        return err_set(err, ERR_INVALID, "'%s' is not a number", text);
    if (!isfinite(v) || v < lo || v > hi)
        return err_set(err, ERR_INVALID, "%s is not between %g and %g", text, lo, hi);
    *out = v;
    return 0;
}

bool str_equal_nocase(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b))
        a++, b++;
    return *a == *b;
}

bool str_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL; /* after the last *, and where it began to match */
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) { /* let the * match one byte more */
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

enum { NAME_MAX_LENGTH = 63 };

/* Levenshtein distance in one row, case-insensitive. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(b), row[NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t change =
                diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
            size_t insert = row[j] + 1, remove = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = change < insert ? change : insert;
            if (remove < row[j + 1])
                row[j + 1] = remove;
        }
    }
    return row[n];
}

const char *str_nearest(const char *text, size_t n, const char *(*name)(const void *ctx, size_t i),
                        const void *ctx)
{
    const char *best = NULL;
    size_t best_distance = 0, length = strlen(text);
    if (length == 0 || length > NAME_MAX_LENGTH)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const char *candidate = name(ctx, i);
        size_t m = strlen(candidate);
        if (m > NAME_MAX_LENGTH)
            continue;
        size_t d = edit_distance(text, candidate);
        /* A name that starts with the typed text counts as one typo. */
        if (length >= 2 && m > length && !strncmp(text, candidate, length))
            d = 1;
        size_t longest = length < m ? m : length;
        if (d < longest && d <= longest / 3 + 1 && 2 * d <= longest &&
            (!best || d < best_distance)) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}
