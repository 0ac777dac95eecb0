/* Files of ours that jobs use, as installed or in the build tree. */
#ifndef RUNTIME_LOCAL_TOOLS_H
#define RUNTIME_LOCAL_TOOLS_H

/* Their paths by enum runtime_tool; NULL where there is none. The caller frees them. */
void tools_find(char *out[3]);

#endif
