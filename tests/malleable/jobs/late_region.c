/* The library that late.c loads: one parallel region. */
#include <omp.h>

int late_region(void);

int late_region(void)
{
    int n = 0;
#pragma omp parallel
#pragma omp single
    n = omp_get_num_threads();
    return n;
}
