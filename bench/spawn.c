/* The minimum cost of starting programs: posix_spawn and wait, `width` at a time.
 *
 *   spawn COUNT WIDTH COMMAND...      prints programs per second */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: spawn COUNT WIDTH COMMAND...\n");
        return 2;
    }
    long count = strtol(argv[1], NULL, 10), width = strtol(argv[2], NULL, 10), live = 0;
    double start = now();
    for (long i = 0; i < count || live > 0;) {
        pid_t pid;
        if (i < count && live < width) {
            if (posix_spawnp(&pid, argv[3], NULL, NULL, argv + 3, environ) != 0) {
                perror(argv[3]);
                return 1;
            }
            i++;
            live++;
        } else if (wait(NULL) > 0) {
            live--;
        }
    }
    printf("%.1f\n", (double)count / (now() - start));
    return 0;
}
