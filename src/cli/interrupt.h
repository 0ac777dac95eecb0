/* Ctrl-C as something that a command counts instead of being ended by it. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "base/time.h"

/* From now on SIGINT is counted and interrupts blocking calls. */
void interrupt_catch(void);
/* The number of interrupts so far. */
int interrupt_count(void);
/* Sleeps for this long, or until a signal. */
void interrupt_sleep(usec_t t);

#endif
