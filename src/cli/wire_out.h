/* The server's objects as output for other programs (--json). Pure. */
#ifndef CLI_WIRE_OUT_H
#define CLI_WIRE_OUT_H

#include <jansson.h>

#include "base/str.h"

/* Append a value as one line, or the items of an array as one line each. Characters beyond
 * ASCII are escaped, so the output is safe on any terminal. */
void wire_out_line(const json_t *value, struct str *out);
void wire_out_lines(const json_t *array, struct str *out);

#endif
