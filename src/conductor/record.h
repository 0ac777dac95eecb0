/* exit.json: how the job ended, on disk until the server has it. */
#ifndef CONDUCTOR_RECORD_H
#define CONDUCTOR_RECORD_H

#include <stddef.h>

#include "base/err.h"

/* A record is never larger: all its texts are bounded. */
#define RECORD_MAX_BYTES 8192

/* Takes the room that the record will need, so that a disk that is full by then
 * does not matter. Returns a descriptor, or -1 when it cannot. */
int record_reserve(int dir);
/* Writes the record durably: when it returns 0 the file is complete and survives a
 * power failure. `fd` is what record_reserve gave, -1 to try without; it is closed
 * when it succeeds. */
int record_write(int dir, int fd, const char *text, size_t n, struct err *err);

#endif
