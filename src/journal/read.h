/* Reads rows of the journal. They are untrusted: the result is valid input for an engine, or an
 * error that says what is wrong. */
#ifndef JOURNAL_READ_H
#define JOURNAL_READ_H

#include "engine/engine.h"

/* The configuration and the cluster, which live as long as the arena. */
int journal_read_boot(const char *text, struct arena *a, struct engine_config *config,
                      struct cluster *cluster, struct err *err);

/* An event and its time. Its job lives as long as `jobs`, everything else as long as `row`.
 * Tasks and nodes are not checked: engine_step() refuses unknown ones. */
int journal_read_event(const char *text, struct arena *jobs, struct arena *row, struct event *event,
                       usec_t *now, struct err *err);

#endif
