/* What a reader of progress knows, as text to compare. */
#ifndef SUPPORT_PROGRESS_JSON_H
#define SUPPORT_PROGRESS_JSON_H

#include "progress/progress.h"

/* Adds the known fields as members of a JSON object, without its braces:
 * "step":10,"total":100,"loss":0.5,"metrics":{"accuracy":0.9},"source":"keras".
 * A NaN or infinite number is the string "nan", "inf" or "-inf". */
void progress_add_json(const struct progress *p, struct str *out);

#endif
