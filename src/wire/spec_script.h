/* Scripts as jobs: their #TRAINYARD and #SBATCH lines up to the first line that
 * is neither empty nor a comment. */
#ifndef WIRE_SPEC_SCRIPT_H
#define WIRE_SPEC_SCRIPT_H

#include "wire/spec.h"

/* Sets the fields that the script asks for, its text as `script`, and `name` as the first word
 * of the command. #TRAINYARD lines override #SBATCH lines. `ignored` gets "FILE:LINE:
 * --option=value" for each #SBATCH option that has no effect; it lives in the request. Errors
 * begin with FILE:LINE:COLUMN; on failure the request can only be passed to spec_done. */
int spec_read_script(const char *name, const char *text, size_t n, struct spec *s,
                     struct spec_list *ignored, struct err *err);

#endif
