/* An event as a line of text. Pure except for the time zone. */
#ifndef CLI_EVENT_TEXT_H
#define CLI_EVENT_TEXT_H

#include <jansson.h>

#include "base/str.h"

/* Appends "2030-01-31 18:00:07  17  job.started  job 12  cpus=2" and a line end, safe
 * for a terminal. */
void event_text_add(const json_t *event, struct str *out);

#endif
