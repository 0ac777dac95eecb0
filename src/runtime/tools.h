/* Files of ours that jobs use, as installed or in the build tree. */
#ifndef RUNTIME_TOOLS_H
#define RUNTIME_TOOLS_H

#include "runtime/runtime.h"

/* Their paths; NULL where there is none. The caller frees them. */
void tools_find(char *out[TOOL_COUNT]);

/* The conductor's path, to be freed: $TRAINYARD_CONDUCTOR, or else the file
 * trainyard-conductor next to the program that is running. */
int tools_find_conductor(char **out, struct err *err);

#endif
