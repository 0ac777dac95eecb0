/* Ctrl-C as something that a command can count, instead of its end. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "base/time.h"

/* From now on SIGINT is counted, and interrupts what blocks. */
void interrupt_catch(void);
/* How often it came. */
int interrupt_count(void);
/* Sleeps for this long, or until a signal. */
void interrupt_sleep(usec_t t);

#endif
