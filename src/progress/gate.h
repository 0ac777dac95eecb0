/* A quick look at a line: whether it is worth reading at all. */
#ifndef PROGRESS_GATE_H
#define PROGRESS_GATE_H

#include <stddef.h>

#define PROGRESS_GATE_NUMBER 1u /* it has a digit, or a nan */
#define PROGRESS_GATE_PASS 2u   /* and something that one of the forms needs */

unsigned progress_gate_look(const char *text, size_t n);

#endif
