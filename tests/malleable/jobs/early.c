/* A library whose constructor asks for the processors, as those of OpenMP do, and prints
 * the answer. */
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void ask(void)
{
    printf("%ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    fflush(stdout);
}
