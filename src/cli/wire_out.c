/* Owns the form of --json: one object per line, members in the server's order. */
#include "cli/wire_out.h"

#include "base/mem.h"

void wire_out_line(const json_t *value, struct str *out)
{
    AUTO_FREE char *text = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY |
                                                 JSON_REAL_PRECISION(16));
    str_add(out, text ? text : "null");
    str_add(out, "\n");
}

void wire_out_lines(const json_t *array, struct str *out)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        wire_out_line(json_array_get(array, i), out);
}
