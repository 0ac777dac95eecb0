/* Owns the places of a job request's fields. */
#include "wire/spec_places.h"

#include <stdio.h>

#include "base/str.h"

struct spec_places {
    struct spec_place whole;
    struct spec_place
        field[]; /* by index in spec_fields; file NULL = not given, "" = not from the file */
};

const char *spec_place_file(struct arena *a, const char *name)
{
    enum { SHOWN = 60 };
    size_t n = strlen(name);
    if (n <= SHOWN)
        return arena_strdup(a, name);
    const char *end = name + n - SHOWN + 3;
    while (((unsigned char)*end & 0xc0) == 0x80) /* the rest of a character */
        end++;
    char *cut = arena_raw(a, SHOWN + 1);
    snprintf(cut, SHOWN + 1, "...%s", end);
    return cut;
}

struct spec_place spec_place_of(const char *file, const char *text, size_t at)
{
    struct spec_place place = {file, 1, 1};
    for (const char *p = text; p < text + at; p++) {
        if (*p == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

int spec_place_check_text(const char *file, const char *text, size_t n, size_t most,
                          struct err *err)
{
    if (n > most) {
        err_set(err, ERR_LIMIT, "%zu bytes; at most %zu are allowed", n, most);
        return err_prefix(err, "%s", file);
    }
    AUTO_FREE char *copy = xstrndup(text, n);
    size_t valid = str_valid_utf8(copy);
    if (valid == n)
        return 0;
    if (copy[valid])
        err_set(err, ERR_INVALID, "byte 0x%02x is not valid UTF-8", (unsigned char)copy[valid]);
    else
        err_set(err, ERR_INVALID, "NUL byte; this is not a text file");
    return spec_place_fail(spec_place_of(file, copy, valid), err);
}

static size_t count_fields(void)
{
    size_t n = 0;
    while (spec_fields[n].name)
        n++;
    return n;
}

void spec_place_set(struct spec *s, const struct spec_field *f, struct spec_place place)
{
    if (!s->places)
        s->places =
            arena_alloc(&s->arena, sizeof *s->places + count_fields() * sizeof s->places->field[0]);
    *(f ? &s->places->field[f - spec_fields] : &s->places->whole) = place;
}

void spec_place_forget(struct spec *s, const struct spec_field *f)
{
    if (s->places)
        s->places->field[f - spec_fields] = (struct spec_place){.file = ""};
}

int spec_place_fail(struct spec_place place, struct err *err)
{
    return err_prefix(err, "%s:%u:%u", place.file, place.line, place.column);
}

int spec_places_fail(const struct spec *s, const char *field, struct err *err)
{
    if (!s->places)
        return -1;
    struct spec_place place = s->places->field[spec_find(field, NULL) - spec_fields];
    if (!place.file)
        place = s->places->whole;
    return *place.file ? spec_place_fail(place, err) : -1;
}
