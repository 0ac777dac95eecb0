/* The places of a job request's fields in the file that it was read from, so that every error,
 * also one about two fields together, can begin with FILE:LINE:COLUMN. */
#ifndef WIRE_SPEC_PLACES_H
#define WIRE_SPEC_PLACES_H

#include "wire/spec.h"

struct spec_place {
    const char *file; /* NULL = not from a file */
    uint32_t line, column;
};

/* The file's name as errors show it: only its end when it is long. Lives in `a`. */
const char *spec_place_file(struct arena *a, const char *name);

/* Checks that the text is UTF-8 and has at most `most` bytes; the error says where it is not. */
int spec_place_check_text(const char *file, const char *text, size_t n, size_t most,
                          struct err *err);
/* The place of a byte of a text. Columns count characters. */
struct spec_place spec_place_of(const char *file, const char *text, size_t at);

/* Remembers the place of a field; NULL is the request as a whole. */
void spec_place_set(struct spec *s, const struct spec_field *f, struct spec_place place);
/* The field got another value that is not from the file. */
void spec_place_forget(struct spec *s, const struct spec_field *f);

/* Puts "FILE:LINE:COLUMN: " in front of the text of *err; returns -1. */
int spec_place_fail(struct spec_place place, struct err *err);
/* The same with the place of a field, or of the request when the field was not given; without
 * a place when its value is not from the file. */
int spec_places_fail(const struct spec *s, const char *field, struct err *err);

#endif
