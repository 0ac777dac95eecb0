/* The steps of the whole job, from all sources. */
#ifndef PROGRESS_TOTAL_H
#define PROGRESS_TOTAL_H

#include "progress/track.h"

/* The steps of the whole job, 0 = not known, and their source. Drops what its place, `step`,
 * contradicts. */
int64_t progress_track_total(struct progress_track *t, int64_t step, const char **from);

/* A total that a user gave is dropped when the job goes beyond it. */
void progress_track_drop_given(struct progress_track *t, int64_t step);

#endif
