/* Colours and weights of text, for terminals of people who want them. */
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

/* A terminal that is not dumb, and no NO_COLOR in the environment. */
bool colour_wanted(FILE *out);

/* Begins and ends a stretch; nothing when `on` is false or the colour is none. */
void colour_begin(struct str *out, enum colour colour, bool on);
void colour_end(struct str *out, enum colour colour, bool on);

#endif
