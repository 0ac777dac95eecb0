/* Objects of the server on their way to other programs: --json. Pure. */
#ifndef CLI_WIRE_OUT_H
#define CLI_WIRE_OUT_H

#include <jansson.h>

#include "base/str.h"

/* Appends a value in one line, or the items of an array in one line each. Characters
 * beyond ASCII are escaped, so that it is safe on any terminal. */
void wire_out_line(const json_t *value, struct str *out);
void wire_out_lines(const json_t *array, struct str *out);

#endif
