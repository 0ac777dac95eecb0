/* Files and directories. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include <sys/types.h>

/* Creates the directory, and missing parents with mode 0755. Returns 0 or an errno: EEXIST if it
 * exists. */
int fs_make_dirs(const char *path, mode_t mode);

#endif
