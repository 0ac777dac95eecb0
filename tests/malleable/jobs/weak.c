/* A program without OpenMP that would use it if it were there. */
#include <stdio.h>

__attribute__((weak)) int omp_get_max_threads(void);
__attribute__((weak)) void omp_set_num_threads(int threads);

int main(void)
{
    if (omp_set_num_threads)
        omp_set_num_threads(4);
    printf("%d\n", omp_get_max_threads ? omp_get_max_threads() : 1);
    return 0;
}
