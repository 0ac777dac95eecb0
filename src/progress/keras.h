/* Keras' lines. */
#ifndef PROGRESS_KERAS_H
#define PROGRESS_KERAS_H

#include "progress/sighting.h"

/* Whether the line is of this form; then *s has what it says. */
bool progress_read_keras(const struct progress_line *line, struct sighting *s);

#endif
