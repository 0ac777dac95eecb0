/* Request targets: splitting, percent-decoding, query parameters. Pure. All decoded text is
 * UTF-8 without control characters, so handlers can use it in messages and files as it is. */
#ifndef HTTP_URL_H
#define HTTP_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct url_pair {
    const char *name, *value;
};
struct url_query {
    VEC(struct url_pair);
};

/* Splits "/path?query", "http://host/path?query" or "*" in place. *query is
 * NULL when there is no '?'. */
int url_split(char *target, char **path, char **query, struct err *err);

/* Splits "/a/b%2Fc" in place into its decoded segments, "a" and "b/c"; "/" has one empty segment.
 * Returns how many there are, of which at most `cap` are stored, or -1. */
int url_segments(char *path, char **segments, size_t cap, struct err *err);

/* Splits and decodes "a=1&b=x+y&a=2" in place; pairs are added to *out in order, including
 * repeated names. A name without '=' has the value "". */
int url_parse_query(char *text, struct url_query *out, struct err *err);

/* Decodes %XX in place, and '+' as a blank when `plus`. */
int url_decode(char *text, bool plus, struct err *err);

/* Appends `text`, escaped for a path segment or a query value. */
void url_add_escaped(struct str *s, const char *text);

#endif
