/* Views that are drawn once, or repeatedly with --watch. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/server_link.h"

#define OPTION_WATCH_AS(value)                                                                     \
    {                                                                                              \
        "watch", 'w', value, "refresh repeatedly (default: every 2 s)", false                      \
    }
/* For commands without operands, and for commands whose operand may be a number. */
#define OPTION_WATCH OPTION_WATCH_AS("[SECONDS]")
#define OPTION_WATCH_OPERANDS OPTION_WATCH_AS("[=SECONDS]")

/* Where a frame is drawn. */
struct watch_view {
    usec_t now;
    size_t width; /* of the terminal; 0 = unlimited, it is not a terminal */
    bool terminal, colours;
};

/* Appends one frame. */
typedef int (*watch_fn)(void *ctx, struct server_link *l, const struct watch_view *view,
                        struct str *out, struct err *err);

/* Connects, draws, and returns the exit code of the command. With --watch it returns only on
 * failure, and waits for a server that restarts. */
int watch_run(const struct args *args, watch_fn draw, void *ctx);

#endif
