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

enum field_type {
    FIELD_U8,
    FIELD_I32,
    FIELD_U32,
    FIELD_I64,
    FIELD_TIME,          /* usec_t within USEC_LIMIT of 0; USEC_NEVER is null */
    FIELD_REAL,          /* double; "inf", "-inf" and "nan" are texts */
    FIELD_FLAG,          /* bool */
    FIELD_OPTIONAL_FLAG, /* bool; false where it is missing: older writers did not know it */
    FIELD_WORD,          /* an enum: the n-th of the words */
    FIELD_TEXT,          /* const char *; NULL is null */
};

struct field {
    const char *name;
    enum field_type type;
    size_t at;         /* offset in the struct */
    int64_t lo, hi;    /* of a whole number */
    const char *words; /* "up|draining|down" */
};

/* Adds the members, separated by commas, without the braces. The table ends with a
 * NULL name. */
void fields_write(const struct field *fields, const void *from, struct str *out);
/* Reads all of them; the error names the one at fault. Texts go to the arena. Members
 * that are not in the table are not looked at. */
int fields_read(const struct field *fields, const struct json_t *object, struct arena *a, void *to,
                struct err *err);

/* One number, as the types above have it. */
void fields_add_real(struct str *out, double x);
void fields_add_time(struct str *out, usec_t t);
/* `name` is for the error. */
int fields_get_real(const struct json_t *v, const char *name, double *out, struct err *err);
int fields_get_int(const struct json_t *v, const char *name, int64_t lo, int64_t hi, int64_t *out,
                   struct err *err);

/* The n-th of the words, and the number of a word (-1 = none of them). */
void fields_add_word(struct str *out, const char *words, unsigned n);
int fields_get_word(const char *text, const char *words);

#endif
