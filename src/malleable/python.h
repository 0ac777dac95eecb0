/* The main thread of a Python process: a new order waits until the interpreter is
 * between two instructions. */
#ifndef MALLEABLE_PYTHON_H
#define MALLEABLE_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this is the main thread of a Python process. Then *order, which is the newest
 * one, becomes the one that holds on this thread; a newer one is taken up soon. */
bool python_holds(uint64_t *order);

#endif
