/* Plain structs as JSON objects, with one table for both directions. Extends base/fields.h by
 * optional members, lists and nested objects.
 *
 * An optional member that is absent or null takes its default, and is not written if it has its
 * default. Members that are not in the table are ignored. */
#ifndef BASE_RECORD_H
#define BASE_RECORD_H

#include <stdbool.h>

#include "base/fields.h"

struct record {
    const struct field *members; /* ends with a NULL name */
    size_t size;                 /* of the struct */
    const void *defaults;        /* a struct with the defaults of optional members */
};

enum { FIELD_NUMBERS_MAX = 16, FIELD_NUMBERS_NAME = 32 };

/* Named numbers. Decoding drops surplus ones and truncates long names. */
struct field_numbers {
    uint32_t n;
    struct field_number {
        char name[FIELD_NUMBERS_NAME];
        double value;
    } at[FIELD_NUMBERS_MAX];
};

/* Appends the object. */
void record_encode(const struct record *r, const void *from, struct str *out);
/* Appends the members to an unfinished object in `out`. */
void record_add_members(const struct record *r, const void *from, struct str *out);

/* Decodes all members; an error names the member. Texts and lists go to the arena. */
int record_decode(const struct record *r, const struct json_t *object, struct arena *a, void *to,
                  struct err *err);
/* Appends the names of members that are not in the table, separated by spaces. */
void record_name_unknown(const struct record *r, const struct json_t *object, struct str *out);

/* Copies the struct; texts and lists go to the arena. */
void record_copy(const struct record *r, const void *from, struct arena *a, void *to);

/* Whether all members are equal; numbers are compared by their bits. */
bool record_equal(const struct record *r, const void *a, const void *b);

#endif
