/* OpenBLAS with threads of its own (its pthreads build), which do not use OpenMP. */
#ifndef MALLEABLE_BLAS_H
#define MALLEABLE_BLAS_H

#include <stdint.h>

/* Applies the order to each such library in the process, unless that was done already. */
void blas_follow(uint64_t order);

#endif
