/* JSON objects, one a line. */
#ifndef PROGRESS_JSON_H
#define PROGRESS_JSON_H

#include "progress/sighting.h"

/* Whether the text is an object with progress in it. `said` = a line of
 * $TRAINYARD_PROGRESS, where every number is meant. */
bool progress_read_json(const char *text, size_t n, bool said, struct sighting *s);

#endif
