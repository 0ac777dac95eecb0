/* Files that appear complete or not at all. */
#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include "base/err.h"

/* Renames the finished file `from` to `to`, replacing what is there, so that this survives a
 * power cut. Removes `from` on failure. */
int place_file(const char *from, const char *to, struct err *err);

#endif
