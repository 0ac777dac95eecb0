/* OpenBLAS with threads of its own (its pthreads build), which ask no OpenMP. */
#ifndef MALLEABLE_BLAS_H
#define MALLEABLE_BLAS_H

#include <stdint.h>

/* Gives the order to each such library in the process, if that was not done yet. */
void blas_follow(uint64_t order);

#endif
