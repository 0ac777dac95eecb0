/* Text that is safe for a terminal. Names, reasons and errors come from users and jobs, and a
 * terminal obeys control characters. So these, and characters that change the direction of
 * text, are shown as \xNN or \u{NNNN}; bytes that are not UTF-8 become U+FFFD. Pure. */
#ifndef CLI_SCREEN_TEXT_H
#define CLI_SCREEN_TEXT_H

#include <stddef.h>

#include "base/str.h"

/* Appends the text as one line: line ends and tabs are shown as \n and \t. */
void screen_add(struct str *out, const char *text);

/* Columns of safe text: two for wide characters, none for combining ones. */
size_t screen_width(const char *text);

/* Appends as much of safe text as fits into `width` columns; if some is cut off, the last column
 * is an ellipsis. Returns the columns used. */
size_t screen_add_cut(struct str *out, const char *text, size_t width);

/* Appends foreign text as safe lines of at most `width` columns (0 = unlimited), wrapped at
 * blanks. The first begins with `first`, the others with as many blanks. */
void screen_add_filled(struct str *out, const char *text, const char *first, size_t width);

#endif
