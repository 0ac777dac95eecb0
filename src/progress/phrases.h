/* Lines that say in words of their own where a training is. */
#ifndef PROGRESS_PHRASES_H
#define PROGRESS_PHRASES_H

#include "progress/sighting.h"

/* Whether the line is of such a form; then *s has what it says. */
bool progress_read_phrase(const struct progress_line *line, struct sighting *s);

#endif
