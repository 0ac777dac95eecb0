/* What goes wrong on a simulated day. */
#ifndef SUPPORT_DAY_FAULTS_H
#define SUPPORT_DAY_FAULTS_H

#include "support/day.h"

/* Draws the kinds of faults of the day. On some days there are few kinds, so that each of
 * them is also seen alone. */
void day_draw_faults(struct day *d);
/* One of them happens, or ends. */
void day_befall(struct day *d);
/* All links of all runtimes are lost for a moment, with what is on its way. */
void day_blip(struct day *d);
/* All faults end, and a server runs. */
void day_calm_down(struct day *d);
/* They come back. */
void day_trouble_again(struct day *d);

#endif
