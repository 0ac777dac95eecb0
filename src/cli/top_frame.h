/* What the full-screen view shows. Pure. */
#ifndef CLI_TOP_FRAME_H
#define CLI_TOP_FRAME_H

#include <stdbool.h>

#include "base/str.h"
#include "cli/top_state.h"

/* Appends exactly as many lines as the screen has rows, none longer than its width, with line
 * ends between them. Scrolls back a page about a job that is beyond its end. */
void top_frame_draw(struct top_state *s, bool colours, struct str *out);

#endif
