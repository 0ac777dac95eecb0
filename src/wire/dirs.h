/* Where the server keeps its state and where it listens; the same for the server and its
 * clients. */
#ifndef WIRE_DIRS_H
#define WIRE_DIRS_H

#include "base/err.h"

/* The state directory: `given` (from --state; may be NULL), else $TRAINYARD_STATE,
 * else /var/lib/trainyard for root, else $XDG_STATE_HOME/trainyard, else
 * ~/.local/state/trainyard. The caller frees *out. */
int dirs_state(const char *given, char **out, struct err *err);

/* The directory of the sockets: `given` (from --run), else the state directory when
 * that was chosen by --state or $TRAINYARD_STATE, else /run/trainyard for root, else
 * $XDG_RUNTIME_DIR/trainyard, else run/ in the state directory. */
int dirs_run(const char *given, const char *given_state, char **out, struct err *err);

#endif
