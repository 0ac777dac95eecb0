/* The main thread of a Python process: a new order waits until the interpreter is
 * between two instructions. */
#ifndef MALLEABLE_PYTHON_H
#define MALLEABLE_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this is the main thread of a Python process. Then *order, which is the newest one, is
 * replaced by the order in force on this thread; the newest takes effect soon. */
bool python_holds(uint64_t *order);

#endif
