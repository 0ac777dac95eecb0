/* What the full-screen view shows. Pure. */
#ifndef CLI_TOP_FRAME_H
#define CLI_TOP_FRAME_H

#include <stdbool.h>

#include "base/str.h"
#include "cli/top_state.h"

/* Appends exactly as many lines as the screen has rows, none longer than it is wide;
 * a line end stands between lines, not behind the last. Scrolls the page about a job
 * back when it is beyond its end. */
void top_frame_draw(struct top_state *s, bool colours, struct str *out);

#endif
