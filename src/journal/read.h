/* Reading rows of the journal. They are foreign bytes: what comes out is something
 * that an engine can be given, or an error that says what is wrong. */
#ifndef JOURNAL_READ_H
#define JOURNAL_READ_H

#include "engine/engine.h"

/* The configuration and the cluster, which live as long as the arena. */
int journal_read_boot(const char *text, struct arena *a, struct engine_config *config,
                      struct cluster *cluster, struct err *err);

/* An event and its time. Its job lives as long as `jobs`, all else as long as `row`.
 * Tasks and nodes are not looked at: engine_step() refuses those that are not there. */
int journal_read_event(const char *text, struct arena *jobs, struct arena *row, struct event *event,
                       usec_t *now, struct err *err);

#endif
