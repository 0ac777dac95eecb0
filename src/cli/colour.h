/* Colours and weights of text, for terminals. */
#ifndef CLI_COLOUR_H
#define CLI_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

enum colour {
    COLOUR_NONE,
    COLOUR_BOLD,
    COLOUR_DIM,
    COLOUR_RED,
    COLOUR_GREEN,
    COLOUR_YELLOW,
    COLOUR_BLUE,
    COLOUR_CYAN,
    COLOUR_REVERSE,
};

/* The stream is a terminal that is not dumb, and NO_COLOR is not set. */
bool colour_wanted(FILE *out);

/* Begin and end coloured text; do nothing when `on` is false or the colour is none. */
void colour_begin(struct str *out, enum colour colour, bool on);
void colour_end(struct str *out, enum colour colour, bool on);

#endif
