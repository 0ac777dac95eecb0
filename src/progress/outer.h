/* Headers of loops around a training: "Fold 1/5", "Seed 42 (1/5)", "Phase 1: warm up". */
#ifndef PROGRESS_OUTER_H
#define PROGRESS_OUTER_H

#include "progress/sighting.h"

/* Whether a line without metrics and places opens a round of such a loop; then *s says which of
 * how many. `names` are those of its numbers. */
bool progress_read_outer(const struct progress_line *line, const struct progress_name *names,
                         struct sighting *s);

/* Notes round `at` of `of` in *s; of = 0: how many there are is not said. */
void progress_outer_note(struct sighting *s, int64_t at, int64_t of);

#endif
