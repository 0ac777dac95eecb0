/* Progress bars. */
#ifndef PROGRESS_BAR_H
#define PROGRESS_BAR_H

#include "progress/sighting.h"

/* Whether the line is of this form; then *s has what it says. */
bool progress_read_bar(const struct progress_line *line, struct sighting *s);

#endif
