/* What is shown of a job, from what is known. Each function says whether anything is news. */
#ifndef PROGRESS_SHOWN_H
#define PROGRESS_SHOWN_H

#include "progress/sighting.h"
#include "progress/track.h"

/* Takes the loss and the metrics of *s. */
bool progress_show_metrics(struct progress_track *t, const struct sighting *s);

/* Brings step and total up to what the run says, and the rate to that of *s. */
bool progress_show_run(struct progress_track *t, const struct sighting *s);

/* Takes the epoch of *s, and how many there are. */
bool progress_show_epoch(struct progress_track *t, const struct sighting *s);

/* What the job says itself is taken as it is, except for a step before one that it
 * said before: the script was started again from a checkpoint. */
bool progress_show_said(struct progress_track *t, const struct sighting *s);

#endif
