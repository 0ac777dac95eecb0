/* Times empty parallel regions: prints the nanoseconds for one, the minimum of several
 * rounds, on as many threads as OpenMP provides. One thread shows the cost of a call
 * best. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
    enum { ROUNDS = 1000, REGIONS = 1000 }; /* a round is shorter than a time slice */
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double began = now();
        for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel
            __asm__ volatile("" ::: "memory");
        }
        double each = (now() - began) / REGIONS;
        best = each < best ? each : best;
    }
    printf("%.1f\n", best);
    return 0;
}
