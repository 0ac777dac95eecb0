/* Files that appear whole or not at all. */
#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include "base/err.h"

/* Gives the finished file `from` the name `to`, in place of what has it, so that
 * this survives a power cut. Removes `from` when it fails. */
int place_file(const char *from, const char *to, struct err *err);

#endif
