/* Bars that are drawn with characters: "[####......]", "|███---|", "━━━━━━". */
#ifndef PROGRESS_DRAWING_H
#define PROGRESS_DRAWING_H

#include "progress/line.h"

/* Where in the line the first drawing begins and ends; false = there is none. */
bool progress_drawing_find(const struct progress_line *line, size_t *begin, size_t *end);

#endif
