/* Files and directories. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include <sys/types.h>

/* Makes the directory, and those above it that are missing with mode 0755. 0, or an errno:
 * EEXIST when it was there. */
int fs_make_dirs(const char *path, mode_t mode);

#endif
