/* Lines of labelled numbers. */
#ifndef PROGRESS_LABELS_H
#define PROGRESS_LABELS_H

#include "progress/sighting.h"

/* Whether the line is of this form; then *s has what it says. */
bool progress_read_text(const struct progress_line *line, struct sighting *s);

#endif
