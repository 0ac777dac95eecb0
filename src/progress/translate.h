/* Words of other languages, and letters with accents, as the readers know them. */
#ifndef PROGRESS_TRANSLATE_H
#define PROGRESS_TRANSLATE_H

#include <stddef.h>

/* Writes the text with its words and letters replaced to `out`, which has `size` bytes; the length.
 * Returns 0, and writes nothing, if nothing is to be replaced or it does not fit. */
size_t progress_translate(const char *text, size_t n, char *out, size_t size);

#endif
