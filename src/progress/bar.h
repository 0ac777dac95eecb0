/* Progress bars. */
#ifndef PROGRESS_BAR_H
#define PROGRESS_BAR_H

#include "progress/sighting.h"

/* Whether the line is a bar as tqdm prints it; then *s has what it says. */
bool progress_read_bar(const struct progress_line *line, struct sighting *s);

/* The same of any other bar that is drawn. */
bool progress_read_drawn(const struct progress_line *line, struct sighting *s);

#endif
