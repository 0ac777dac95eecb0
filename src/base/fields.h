/* Members of plain structs as JSON, by one table for both ways, so that what is
 * written is what is read: every number comes back bit by bit. */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"

struct json_t;
struct record;

enum field_type {
    FIELD_U8,
    FIELD_I32,
    FIELD_U32,
    FIELD_I64,
    FIELD_TIME, /* usec_t within USEC_LIMIT of 0; USEC_NEVER is null */
    FIELD_REAL, /* double; "inf", "-inf" and "nan" are texts */
    FIELD_FLAG, /* bool */
    FIELD_WORD, /* an enum: the n-th of the words */
    FIELD_TEXT, /* const char *; NULL is null. With lo = 1 it must not be empty, nor null; hi is
                 * the most bytes that it may have, 0 = any number */

    FIELD_SECONDS, /* usec_t from 0 to FIELD_SECONDS_MAX, written as seconds; USEC_NEVER is null */
    FIELD_NUMBER,  /* double as FIELD_REAL, but in the shortest spelling that gives it back */
    FIELD_PATH,    /* const char *: an absolute path */
    FIELD_CHARS,   /* char[hi]: a text; a longer one is cut */

    /* Only in a record, see base/record.h. */
    FIELD_TEXTS,   /* const char **, ends with NULL: a list of texts */
    FIELD_PAIRS,   /* const char **, ends with NULL, of "NAME=VALUE": an object of texts */
    FIELD_NUMBERS, /* struct field_numbers: an object of numbers */
    FIELD_LIST,    /* struct { T *at; size_t n; }: a list of objects */
    FIELD_OBJECT,  /* a struct: an object */
    FIELD_INLINE,  /* a struct: its members are among the others of the object */

    FIELD_OPTIONAL = 1 << 8, /* to be added: the member may be absent */
};
#define FIELD_KIND(type) ((enum field_type)((type) & (FIELD_OPTIONAL - 1)))
#define FIELD_SECONDS_MAX (1000000000 * USEC_PER_SEC)

/* An optional number that is absent: a NaN that no calculation gives, so that a NaN that
 * was said differs from it. */
#define FIELD_UNKNOWN __builtin_nan("0x7472")

struct field {
    const char *name;
    enum field_type type;
    size_t at;      /* offset in the struct */
    int64_t lo, hi; /* of a whole number, or of a FIELD_NUMBER: both 0 = any */
    /* Of a FIELD_WORD the words, "up|draining|down"; of a FIELD_LIST, FIELD_OBJECT or
     * FIELD_INLINE the struct record of what is in it. */
    const void *of;
};

/* Adds the members, separated by commas, without the braces. The table ends with a
 * NULL name. */
void fields_write(const struct field *fields, const void *from, struct str *out);
/* Reads all of them; the error names the one at fault. Texts go to the arena. What is
 * optional and absent stays as it is in *to. Members that are not in the table are not
 * looked at. */
int fields_read(const struct field *fields, const struct json_t *object, struct arena *a, void *to,
                struct err *err);

/* One value. A type that is only in a record is none of them. */
void fields_add_value(const struct field *f, const void *from, struct str *out);
int fields_get_value(const struct field *f, const struct json_t *v, struct arena *a, void *to,
                     struct err *err);

/* One number, as the types above have it. */
void fields_add_real(struct str *out, double x);
void fields_add_time(struct str *out, usec_t t);
/* `name` is for the error. */
int fields_get_real(const struct json_t *v, const char *name, double *out, struct err *err);
int fields_get_int(const struct json_t *v, const char *name, int64_t lo, int64_t hi, int64_t *out,
                   struct err *err);

/* Copies UTF-8 to where there is room for `size` bytes; what does not fit is cut off, at the
 * end of a letter. */
void fields_cut_text(const char *text, char *out, size_t size);

/* The n-th of the words, and the number of a word (-1 = none of them). */
void fields_add_word(struct str *out, const char *words, unsigned n);
int fields_get_word(const char *text, const char *words);

#endif
