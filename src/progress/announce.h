/* What a line of labelled numbers says of the whole run. */
#ifndef PROGRESS_ANNOUNCE_H
#define PROGRESS_ANNOUNCE_H

#include "progress/sighting.h"

/* Whether the number is the share that is done: "Progress: 66.15%", "(14.2% complete)". */
bool progress_is_share_done(const struct progress_line *line, const struct progress_number *x);

/* The end of a count that is `at` at this share; 0 = the share is too coarse to tell. */
int64_t progress_share_end(const struct progress_line *line, const struct progress_number *share,
                           int64_t at);

/* Whether the line has a word of the trade, which makes "Progress: 45%" a training's. */
bool progress_speaks_of_training(const struct progress_line *line);

/* Whether the line announces how long the run will be; then *s has the limit. `names` are
 * those of its numbers; alone = it has neither an epoch nor a share. */
bool progress_read_announcement(const struct progress_line *line, const struct progress_name *names,
                                bool alone, struct sighting *s);

#endif
