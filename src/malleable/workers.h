/* Recognises the threads of pools in which every worker takes any task. */
#ifndef MALLEABLE_WORKERS_H
#define MALLEABLE_WORKERS_H

#include <stdbool.h>

/* Whether a thread that begins with start(arg) will be a worker of such a pool. */
bool workers_recognise(void *(*start)(void *), void *arg);

#endif
