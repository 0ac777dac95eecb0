/* OpenMP's own interface, in C and Fortran: the calls that query processors and query or set the
 * number of threads; and dlclose, after which addresses may have a new owner. */
#include "malleable/real.h"
#include "malleable/target.h"

#include <limits.h>

EXPORTED int omp_get_max_threads(void);
EXPORTED int omp_get_max_threads_(void);
EXPORTED int omp_get_num_procs(void);
EXPORTED int omp_get_num_procs_(void);
EXPORTED void omp_set_num_threads(int threads);
EXPORTED void omp_set_num_threads_(const int32_t *threads);
EXPORTED void omp_set_num_threads_8_(const int64_t *threads);
EXPORTED int dlclose(void *handle);

/* A program that only checks for OpenMP, and works without it, is told one thread. */
static int get_max(struct module *m)
{
    int (*get)(void) = real_find(m, REAL_omp_get_max_threads);
    return get ? target_max(m, get()) : 1;
}

static int get_procs(struct module *m)
{
    unsigned processors = target_processors();
    int (*get)(void) = processors ? NULL : real_find(m, REAL_omp_get_num_procs);
    return processors ? (int)processors : get ? get() : 1;
}

static void set(struct module *m, int threads)
{
    void (*set_real)(int) = real_find(m, REAL_omp_set_num_threads);
    if (set_real && !target_is_echo(m, threads))
        set_real(threads);
}

int omp_get_max_threads(void)
{
    return get_max(REAL_CALLER());
}

int omp_get_max_threads_(void)
{
    return get_max(REAL_CALLER());
}

int omp_get_num_procs(void)
{
    return get_procs(REAL_CALLER());
}

int omp_get_num_procs_(void)
{
    return get_procs(REAL_CALLER());
}

void omp_set_num_threads(int threads)
{
    set(REAL_CALLER(), threads);
}

void omp_set_num_threads_(const int32_t *threads)
{
    set(REAL_CALLER(), *threads);
}

void omp_set_num_threads_8_(const int64_t *threads)
{
    set(REAL_CALLER(), *threads > INT_MAX ? INT_MAX : *threads < INT_MIN ? INT_MIN : (int)*threads);
}

int dlclose(void *handle)
{
    int (*close_real)(void *) = real_need(REAL_CALLER(), REAL_dlclose);
    int result = close_real(handle);
    real_forget();
    return result;
}
