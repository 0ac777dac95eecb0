/* GNU's OpenMP: the entry points with which a compiled program begins a parallel region, all
 * that libgomp of GCC 12 has. Each passes its arguments on, with the number of threads from
 * target_region. LLVM's runtime has the same names, for programs compiled by GCC. */
#include "malleable/real.h"
#include "malleable/target.h"

#include <stdbool.h>

typedef void body(void *);

/* The real function, and the threads for a region of the caller. */
#define BEGIN(name)                                                                                \
    struct module *m = REAL_CALLER();                                                              \
    __typeof__(&name) real = real_need(m, REAL_##name);                                            \
    threads = target_region(m, threads)

EXPORTED void GOMP_parallel(body *f, void *data, unsigned threads, unsigned flags);
void GOMP_parallel(body *f, void *data, unsigned threads, unsigned flags)
{
    BEGIN(GOMP_parallel);
    real(f, data, threads, flags);
}

EXPORTED unsigned GOMP_parallel_reductions(body *f, void *data, unsigned threads, unsigned flags);
unsigned GOMP_parallel_reductions(body *f, void *data, unsigned threads, unsigned flags)
{
    BEGIN(GOMP_parallel_reductions);
    return real(f, data, threads, flags);
}

EXPORTED void GOMP_parallel_sections(body *f, void *data, unsigned threads, unsigned count,
                                     unsigned flags);
void GOMP_parallel_sections(body *f, void *data, unsigned threads, unsigned count, unsigned flags)
{
    BEGIN(GOMP_parallel_sections);
    real(f, data, threads, count, flags);
}

#define LOOP(name)                                                                                 \
    EXPORTED void name(body *f, void *data, unsigned threads, long start, long end, long step,     \
                       long chunk, unsigned flags);                                                \
    void name(body *f, void *data, unsigned threads, long start, long end, long step, long chunk,  \
              unsigned flags)                                                                      \
    {                                                                                              \
        BEGIN(name);                                                                               \
        real(f, data, threads, start, end, step, chunk, flags);                                    \
    }
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define RUNTIME_LOOP(name)                                                                         \
    EXPORTED void name(body *f, void *data, unsigned threads, long start, long end, long step,     \
                       unsigned flags);                                                            \
    void name(body *f, void *data, unsigned threads, long start, long end, long step,              \
              unsigned flags)                                                                      \
    {                                                                                              \
        BEGIN(name);                                                                               \
        real(f, data, threads, start, end, step, flags);                                           \
    }
RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* Before GCC 4.9 the program itself ran the first thread's part and ended the region. */
EXPORTED void GOMP_parallel_start(body *f, void *data, unsigned threads);
void GOMP_parallel_start(body *f, void *data, unsigned threads)
{
    BEGIN(GOMP_parallel_start);
    real(f, data, threads);
}

EXPORTED void GOMP_parallel_sections_start(body *f, void *data, unsigned threads, unsigned count);
void GOMP_parallel_sections_start(body *f, void *data, unsigned threads, unsigned count)
{
    BEGIN(GOMP_parallel_sections_start);
    real(f, data, threads, count);
}

#define LOOP_START(name)                                                                           \
    EXPORTED void name(body *f, void *data, unsigned threads, long start, long end, long step,     \
                       long chunk);                                                                \
    void name(body *f, void *data, unsigned threads, long start, long end, long step, long chunk)  \
    {                                                                                              \
        BEGIN(name);                                                                               \
        real(f, data, threads, start, end, step, chunk);                                           \
    }
LOOP_START(GOMP_parallel_loop_static_start)
LOOP_START(GOMP_parallel_loop_dynamic_start)
LOOP_START(GOMP_parallel_loop_guided_start)

EXPORTED void GOMP_parallel_loop_runtime_start(body *f, void *data, unsigned threads, long start,
                                               long end, long step);
void GOMP_parallel_loop_runtime_start(body *f, void *data, unsigned threads, long start, long end,
                                      long step)
{
    BEGIN(GOMP_parallel_loop_runtime_start);
    real(f, data, threads, start, end, step);
}
