/* Owns the escape sequences of colours and the decision to send them. */
#include "cli/colour.h"

#include <stdlib.h>

#include "cli/terminal.h"

bool colour_wanted(FILE *out)
{
    const char *no = getenv("NO_COLOR");
    return terminal_obeys(out) && !(no && *no);
}

void colour_begin(struct str *out, enum colour colour, bool on)
{
    static const char *const sequences[] = {"",         "\033[1m",  "\033[2m",
                                            "\033[31m", "\033[32m", "\033[33m",
                                            "\033[34m", "\033[36m", "\033[7m"};
    if (on)
        str_add(out, sequences[colour]);
}

void colour_end(struct str *out, enum colour colour, bool on)
{
    if (on && colour != COLOUR_NONE)
        str_add(out, "\033[0m");
}
