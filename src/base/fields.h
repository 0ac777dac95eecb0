/* Members of plain structs as JSON. One table serves both directions, so that what is written
 * can be read back: every number returns bit by bit. */
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
    FIELD_REAL, /* double; "inf", "-inf" and "nan" are strings */
    FIELD_FLAG, /* bool */
    FIELD_WORD, /* an enum: index in the words */
    FIELD_TEXT, /* const char *; NULL is null. lo = 1: neither null nor empty; hi: maximum length in
                   bytes, 0 = any */

    FIELD_SECONDS, /* usec_t from 0 to FIELD_SECONDS_MAX, written as seconds; USEC_NEVER is null */
    FIELD_NUMBER,  /* double like FIELD_REAL, in the shortest form that reads back the same */
    FIELD_PATH,    /* const char *: an absolute path */
    FIELD_CHARS,   /* char[hi]: a text; truncated if longer */

    /* In records only, see base/record.h. */
    FIELD_TEXTS,   /* const char **, ends with NULL: a list of texts */
    FIELD_PAIRS,   /* const char **, ends with NULL, of "NAME=VALUE": an object of texts */
    FIELD_NUMBERS, /* struct field_numbers: an object of numbers */
    FIELD_LIST,    /* struct { T *at; size_t n; }: a list of objects */
    FIELD_OBJECT,  /* a struct: an object */
    FIELD_INLINE,  /* a struct whose members are part of the enclosing object */

    FIELD_OPTIONAL = 1 << 8, /* flag: the member may be absent */
};
#define FIELD_KIND(type) ((enum field_type)((type) & (FIELD_OPTIONAL - 1)))
#define FIELD_SECONDS_MAX (1000000000 * USEC_PER_SEC)

/* An absent optional number: a NaN that no calculation produces, so it differs from a NaN that
 * was given. */
#define FIELD_UNKNOWN __builtin_nan("0x7472")

struct field {
    const char *name;
    enum field_type type;
    size_t at;      /* offset in the struct */
    int64_t lo, hi; /* range of an integer or a FIELD_NUMBER; both 0 = any */
    /* For FIELD_WORD the words, "up|draining|down"; for FIELD_LIST, FIELD_OBJECT and
     * FIELD_INLINE the struct record of the content. */
    const void *of;
};

/* Appends the members, separated by commas, without braces. The table ends with a NULL name. */
void fields_write(const struct field *fields, const void *from, struct str *out);
/* Reads all members; an error names the member. Texts go to the arena. Absent optional members
 * stay unchanged in *to. Members that are not in the table are ignored. */
int fields_read(const struct field *fields, const struct json_t *object, struct arena *a, void *to,
                struct err *err);

/* One value; not of the types that only records have. */
void fields_add_value(const struct field *f, const void *from, struct str *out);
int fields_get_value(const struct field *f, const struct json_t *v, struct arena *a, void *to,
                     struct err *err);

/* One number, formatted like the types above. */
void fields_add_real(struct str *out, double x);
void fields_add_time(struct str *out, usec_t t);
/* `name` is for the error. */
int fields_get_real(const struct json_t *v, const char *name, double *out, struct err *err);
int fields_get_int(const struct json_t *v, const char *name, int64_t lo, int64_t hi, int64_t *out,
                   struct err *err);

/* Copies UTF-8 into a buffer of `size` bytes, truncated at the end of a character. */
void fields_cut_text(const char *text, char *out, size_t size);

/* The n-th word, and the index of a word (-1 = not found). */
void fields_add_word(struct str *out, const char *words, unsigned n);
int fields_get_word(const char *text, const char *words);

#endif
