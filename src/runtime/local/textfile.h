/* Small files of the kernel (/proc, control groups): read whole, written at once. */
#ifndef RUNTIME_LOCAL_TEXTFILE_H
#define RUNTIME_LOCAL_TEXTFILE_H

#include "base/str.h"

/* Replaces the text of *out, which ends with NUL; 0 or an errno. */
int textfile_read(const char *path, struct str *out);
int textfile_read_at(int dir, const char *path, struct str *out);

/* Writes into a file that exists; 0 or an errno. */
int textfile_write_at(int dir, const char *path, const char *text);

#endif
