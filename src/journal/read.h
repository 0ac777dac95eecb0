/* Reading rows of the journal. They are foreign bytes: what comes out is something
 * that an engine can be given, or an error that says what is wrong. */
#ifndef JOURNAL_READ_H
#define JOURNAL_READ_H

#include "engine/engine.h"

struct replay;
struct replay_result;

/* The configuration and the cluster, which live as long as the arena. */
int journal_read_boot(const char *text, struct arena *a, struct engine_config *config,
                      struct cluster *cluster, struct err *err);

/* An event and its time. Its job lives as long as `jobs`, all else as long as `row`.
 * Tasks and nodes are not looked at: engine_step() refuses those that are not there. */
int journal_read_event(const char *text, struct arena *jobs, struct arena *row, struct event *event,
                       usec_t *now, struct err *err);

/* A replay row by row, of stretches that come one after the other; *out, which must be
 * empty at first, has what was found so far. */
struct replay *replay_create(struct replay_result *out);
/* After a failure it is of no more use. */
int replay_row(struct replay *r, int64_t seq, int64_t boot, const char *kind, const char *data,
               struct err *err);
/* No more rows will come. */
void replay_end(struct replay *r);
void replay_free(struct replay *r);

#endif
