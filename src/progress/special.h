/* Lines of well-known programs that need a form of their own. */
#ifndef PROGRESS_SPECIAL_H
#define PROGRESS_SPECIAL_H

#include "progress/sighting.h"

/* Whether the line is of this form; then *s has what it says. */
bool progress_read_special(const struct progress_line *line, struct sighting *s);

#endif
