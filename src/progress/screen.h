/* What a terminal would show of a text: bars that were redrawn are there once. */
#ifndef PROGRESS_SCREEN_H
#define PROGRESS_SCREEN_H

#include <stddef.h>

#include "base/str.h"

/* Adds the last `lines` lines of the text as a terminal of endless width shows them, each
 * with a newline: carriage returns, backspaces and the usual cursor movements are
 * followed, colours and other sequences left out. A line that is still being drawn
 * counts. The text may begin anywhere; of a log it is enough to give the end that has
 * `lines` newlines, and of a single line without any its last 64 KiB. */
void progress_screen_tail(const char *text, size_t n, unsigned lines, struct str *out);

#endif
