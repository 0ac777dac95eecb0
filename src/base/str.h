/* Text: a growing buffer, strict number parsing, the closest of several names. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct str {
    char *at; /* NUL-terminated once it is not empty */
    size_t n, cap;
};

void str_add(struct str *s, const char *text);
void str_add_n(struct str *s, const char *text, size_t n);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_addv(struct str *s, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
/* As a JSON string with quotes; invalid UTF-8 becomes U+FFFD. */
void str_add_json(struct str *s, const char *text);
/* Replaces each byte that is not part of valid UTF-8 by U+FFFD. */
void str_add_utf8(struct str *s, const char *text);
/* Length of the valid UTF-8 prefix of `text`. */
size_t str_valid_utf8(const char *text);
/* Escapes &, <, > and quotes as HTML entities. */
void str_add_html(struct str *s, const char *text);
/* As one word of a POSIX shell, in single quotes if necessary. */
void str_add_shell(struct str *s, const char *text);
void str_done(struct str *s);

/* All of `text` must be one finite number within [lo, hi]. */
int str_parse_int(const char *text, int64_t lo, int64_t hi, int64_t *out, struct err *err);
int str_parse_double(const char *text, double lo, double hi, double *out, struct err *err);

bool str_equal_nocase(const char *a, const char *b);

/* Whether the pattern matches all of `text`; * matches any bytes, ? any single byte. */
bool str_glob(const char *pattern, const char *text);

/* The name closest to `text` by edit distance; NULL if none is close enough. `name(ctx, i)`
 * returns the i-th of n names. */
const char *str_nearest(const char *text, size_t n, const char *(*name)(const void *ctx, size_t i),
                        const void *ctx);

#endif
