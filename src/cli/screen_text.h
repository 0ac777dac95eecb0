/* Text on its way to a person: names, reasons and errors come from users and jobs,
 * and a terminal obeys what it is sent. So control characters, and those that turn
 * the direction of a line, are shown as \xNN or \u{NNNN}, never sent; bytes that are
 * no UTF-8 become U+FFFD. Pure. */
#ifndef CLI_SCREEN_TEXT_H
#define CLI_SCREEN_TEXT_H

#include <stddef.h>

#include "base/str.h"

/* Appends the text in one line: line ends and tabs are shown as \n and \t. */
void screen_add(struct str *out, const char *text);

/* Columns that safe text takes: wide characters two, combining ones none. */
size_t screen_width(const char *text);

/* Appends as much of safe text as fits into `width` columns; when some is cut off
 * the last column is an ellipsis. Returns the columns used. */
size_t screen_add_cut(struct str *out, const char *text, size_t width);

/* Appends foreign text as safe lines of at most `width` columns (0 = any), broken at
 * blanks: the first begins with `first`, the others with as many blanks. */
void screen_add_filled(struct str *out, const char *text, const char *first, size_t width);

#endif
