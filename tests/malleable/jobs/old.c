/* A program as compilers before GCC 4.9 wrote it: it begins each region by one call, runs
 * the first part itself, and ends the region by another call. Prints the threads. */
#include <omp.h>
#include <stdio.h>

void GOMP_parallel_start(void (*f)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);
void GOMP_parallel_loop_static_start(void (*f)(void *), void *data, unsigned threads, long start,
                                     long end, long step, long chunk);
void GOMP_parallel_loop_runtime_start(void (*f)(void *), void *data, unsigned threads, long start,
                                      long end, long step);
void GOMP_parallel_sections_start(void (*f)(void *), void *data, unsigned threads, unsigned count);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);

static void note(void *data)
{
    if (omp_get_thread_num() == 0)
        *(int *)data = omp_get_num_threads();
}

static void note_loop(void *data)
{
    note(data);
    GOMP_loop_end_nowait();
}

static void note_sections(void *data)
{
    note(data);
    while (GOMP_sections_next())
        ;
    GOMP_sections_end_nowait();
}

int main(void)
{
    int n[4] = {0};
    GOMP_parallel_start(note, &n[0], 0);
    note(&n[0]);
    GOMP_parallel_end();
    GOMP_parallel_loop_static_start(note_loop, &n[1], 0, 0, 100, 1, 0);
    note_loop(&n[1]);
    GOMP_parallel_end();
    GOMP_parallel_loop_runtime_start(note_loop, &n[2], 0, 0, 100, 1);
    note_loop(&n[2]);
    GOMP_parallel_end();
    GOMP_parallel_sections_start(note_sections, &n[3], 0, 3);
    note_sections(&n[3]);
    GOMP_parallel_end();
    printf("%d %d %d %d\n", n[0], n[1], n[2], n[3]);
    return 0;
}
