/* Why a program failed, in one line: found in what it wrote to stderr. */
#ifndef PROGRESS_FAILURE_H
#define PROGRESS_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#define PROGRESS_FAILURE_BYTES 256

/* Looks for the exception of a Python traceback, the message of a C++ exception, a panic
 * or an error of another language; without any of them takes the last line. The text is
 * the end of stderr (16 KiB are enough for most), raw as it was written. `out` has
 * PROGRESS_FAILURE_BYTES bytes, is valid UTF-8 if the text is, and is cut where it is too
 * long. False = the text has no line. */
bool progress_failure_find(const char *text, size_t n, char *out);

#endif
