/* Views that are drawn once, or again and again with --watch. */
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
        "watch", 'w', value, "show it again and again (default: every 2 s)", false                 \
    }
/* For commands without operands, and for those where a number is one. */
#define OPTION_WATCH OPTION_WATCH_AS("[SECONDS]")
#define OPTION_WATCH_OPERANDS OPTION_WATCH_AS("[=SECONDS]")

/* What a frame is drawn for. */
struct watch_view {
    usec_t now;
    size_t width; /* columns of the terminal; 0 = any number, it is none */
    bool terminal, colours;
};

/* Appends one frame. */
typedef int (*watch_fn)(void *ctx, struct server_link *l, const struct watch_view *view,
                        struct str *out, struct err *err);

/* Opens the link, draws, and returns the exit code of the command; with --watch it
 * only returns when something fails, and waits for a server that restarts. */
int watch_run(const struct args *args, watch_fn draw, void *ctx);

#endif
