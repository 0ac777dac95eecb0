/* Where the fields of a job request stand in the file that it was read from, so
 * that every error, also one about two fields together, can say
 * FILE:LINE:COLUMN. */
#ifndef WIRE_SPEC_PLACES_H
#define WIRE_SPEC_PLACES_H

#include "wire/spec.h"

struct spec_place {
    const char *file; /* NULL = not from a file */
    uint32_t line, column;
};

/* The file's name as errors show it: its end, when it is long. Lives in `a`. */
const char *spec_place_file(struct arena *a, const char *name);

/* Whether it is text in UTF-8, of at most `most` bytes; the error says where not. */
int spec_place_check_text(const char *file, const char *text, size_t n, size_t most,
                          struct err *err);
/* The place of a byte of a text. Columns count characters. */
struct spec_place spec_place_of(const char *file, const char *text, size_t at);

/* Remembers where a field stands; NULL is the request as a whole. */
void spec_place_set(struct spec *s, const struct spec_field *f, struct spec_place place);
/* The field got another value, from elsewhere. */
void spec_place_forget(struct spec *s, const struct spec_field *f);

/* Puts "FILE:LINE:COLUMN: " in front of the text of *err; returns -1. */
int spec_place_fail(struct spec_place place, struct err *err);
/* The same with the place of a field or, when it was not given, of the request; with
 * none when it came from elsewhere. */
int spec_places_fail(const struct spec *s, const char *field, struct err *err);

#endif
