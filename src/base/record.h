/* A plain struct as a JSON object, by one table for both ways. More than base/fields.h
 * has: members that may be absent, lists, objects within objects.
 *
 * An optional member is what the defaults say when it is absent or null, and is not
 * written when it is that. Members that are not in the table are not looked at. */
#ifndef BASE_RECORD_H
#define BASE_RECORD_H

#include <stdbool.h>

#include "base/fields.h"

struct record {
    const struct field *members; /* ends with a NULL name */
    size_t size;                 /* of the struct */
    const void *defaults;        /* such a struct; what is required is whatever it is there */
};

enum { FIELD_NUMBERS_MAX = 16, FIELD_NUMBERS_NAME = 32 };

/* Named numbers. When they are read, further ones are left out and long names are cut. */
struct field_numbers {
    uint32_t n;
    struct field_number {
        char name[FIELD_NUMBERS_NAME];
        double value;
    } at[FIELD_NUMBERS_MAX];
};

/* Adds the object. */
void record_encode(const struct record *r, const void *from, struct str *out);
/* Adds its members to an object that is begun and not ended in `out`. */
void record_add_members(const struct record *r, const void *from, struct str *out);

/* Reads all of it; the error names the member at fault. Texts and lists go to the
 * arena. */
int record_decode(const struct record *r, const struct json_t *object, struct arena *a, void *to,
                  struct err *err);
/* Adds the names of members that are not in the table, separated by blanks. */
void record_name_unknown(const struct record *r, const struct json_t *object, struct str *out);

/* Copies all of it; texts and lists go to the arena. */
void record_copy(const struct record *r, const void *from, struct arena *a, void *to);

/* Whether all members are the same; numbers are when their bits are. */
bool record_equal(const struct record *r, const void *a, const void *b);

#endif
