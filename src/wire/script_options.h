/* The options on a script's comment lines, split as a shell would: with quotes and
 * backslashes, up to a # before a word. */
#ifndef WIRE_SCRIPT_OPTIONS_H
#define WIRE_SCRIPT_OPTIONS_H

#include "base/mem.h"
#include "wire/spec_places.h"

/* Words of one line. Both arrays live in the arena that they were made in. */
struct script_words {
    const char **at;
    struct spec_place *places;
    size_t n, next; /* next: the word that script_option reads next */
};

/* Splits `line` of n bytes, which begins at `place`. */
int script_words(const char *line, size_t n, struct spec_place place, struct arena *a,
                 struct script_words *out, struct err *err);

/* One option: "--name", "--name=value", "-x" or "-xvalue". */
struct script_option {
    char name[64];     /* without dashes; "x" for "-x" */
    bool is_long;      /* by name, not by letter */
    const char *value; /* after the = or the letter; NULL = none */
    struct spec_place place;
};

/* Reads the next word as an option. Returns 1, 0 at the end, or -1 when it is not an option. */
int script_option(struct script_words *words, struct script_option *out, struct err *err);

/* The value of an option that needs one, from its own word or the next; NULL and an error when
 * there is none. */
const char *script_value(struct script_words *words, const struct script_option *o,
                         struct err *err);

#endif
