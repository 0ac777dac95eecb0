/* Files of ours that jobs use, as installed or in the build tree. */
#ifndef RUNTIME_LOCAL_TOOLS_H
#define RUNTIME_LOCAL_TOOLS_H

#include "runtime/runtime.h"

/* Their paths; NULL where there is none. The caller frees them. */
void tools_find(char *out[TOOL_COUNT]);

#endif
