/* The functions that this library overrides, and where the real ones are. A process may have
 * several OpenMP runtimes (torch brings one, scikit-learn another), and a region must begin in
 * the runtime in which its threads will later query their numbers. So each calling library is a
 * module with its own functions: those to which the dynamic linker would have bound it. */
#ifndef MALLEABLE_REAL_H
#define MALLEABLE_REAL_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Exports a symbol; everything else is hidden. */
#define EXPORTED __attribute__((visibility("default")))

/* The overridden functions, and those that this library calls itself. */
#define REAL_FUNCTIONS(X)                                                                          \
    X(GOMP_parallel)                                                                               \
    X(GOMP_parallel_reductions)                                                                    \
    X(GOMP_parallel_sections)                                                                      \
    X(GOMP_parallel_loop_static)                                                                   \
    X(GOMP_parallel_loop_dynamic)                                                                  \
    X(GOMP_parallel_loop_guided)                                                                   \
    X(GOMP_parallel_loop_runtime)                                                                  \
    X(GOMP_parallel_loop_nonmonotonic_dynamic)                                                     \
    X(GOMP_parallel_loop_nonmonotonic_guided)                                                      \
    X(GOMP_parallel_loop_nonmonotonic_runtime)                                                     \
    X(GOMP_parallel_loop_maybe_nonmonotonic_runtime)                                               \
    X(GOMP_parallel_start)                                                                         \
    X(GOMP_parallel_sections_start)                                                                \
    X(GOMP_parallel_loop_static_start)                                                             \
    X(GOMP_parallel_loop_dynamic_start)                                                            \
    X(GOMP_parallel_loop_guided_start)                                                             \
    X(GOMP_parallel_loop_runtime_start)                                                            \
    X(omp_get_max_threads)                                                                         \
    X(omp_get_num_procs)                                                                           \
    X(omp_set_num_threads)                                                                         \
    X(omp_get_active_level)                                                                        \
    X(omp_get_level)                                                                               \
    X(omp_get_team_size)                                                                           \
    X(__kmpc_fork_call)                                                                            \
    X(__kmpc_fork_call_if)                                                                         \
    X(__kmpc_push_num_threads)                                                                     \
    X(__kmpc_serialized_parallel)                                                                  \
    X(__kmpc_global_thread_num)                                                                    \
    X(cblas_sgemm)                                                                                 \
    X(cblas_dgemm)                                                                                 \
    X(sgemm_)                                                                                      \
    X(dgemm_)                                                                                      \
    X(Py_AddPendingCall)                                                                           \
    X(dlclose)

#define REAL_NAME(name) REAL_##name,
enum real { REAL_FUNCTIONS(REAL_NAME) REAL_COUNT };
#undef REAL_NAME

/* How a caller uses threads, and so when its number may change (target.h). */
enum kind {
    KIND_PLAIN, /* standard OpenMP: a region may get fewer threads than the maximum */
    KIND_BLAS,  /* queries the number, divides its work by it, then begins a region */
    KIND_TORCH, /* the same with other calls in between */
};

/* A library, or the program itself, that has called. */
struct module {
    uintptr_t start, end; /* its addresses; end is 0 until the record is complete */
    uint32_t unloads;     /* number of unloaded libraries when it was last seen */
    enum kind kind;
    struct link_map *map;
    void *real[REAL_COUNT]; /* NULL = not looked up yet */
};

/* Shared by all modules of the process. */
struct real_state {
    uint32_t unloads; /* number of libraries unloaded so far */
};
extern struct real_state real_state;
extern __thread struct module *real_last; /* the last module that called on this thread */

/* The slow paths of the two functions below. */
struct module *real_look_up(const void *address);
void *real_bind(struct module *m, enum real which);

static inline bool real_is_inside(const struct module *m, const void *address)
{
    return (uintptr_t)address >= m->start &&
           (uintptr_t)address < __atomic_load_n(&m->end, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&m->unloads, __ATOMIC_RELAXED) ==
               __atomic_load_n(&real_state.unloads, __ATOMIC_RELAXED);
}

/* The module that called, by its return address. */
static inline struct module *real_caller(const void *address)
{
    struct module *m = real_last;
    return m && real_is_inside(m, address) ? m : real_look_up(address);
}

/* The function that the module would have called; NULL if there is none. */
static inline void *real_find(struct module *m, enum real which)
{
    void *function = __atomic_load_n(&m->real[which], __ATOMIC_RELAXED);
    return function ? function : real_bind(m, which);
}

/* The same; if there is none, ends the process as the dynamic linker would. */
_Noreturn void real_lack(const struct module *m, enum real which);
static inline void *real_need(struct module *m, enum real which)
{
    void *function = real_find(m, which);
    if (!function)
        real_lack(m, which);
    return function;
}

/* A library may have been unloaded, and another may get its addresses. */
void real_forget(void);

/* Finds a function of a loaded object or of its dependencies; NULL if there is none. The
 * program's own path is "". */
void *real_in(const char *path, const char *name);

/* Calls `see` with the path of each loaded object until it returns true. */
void real_each(bool (*see)(const char *path, void *data), void *data);

/* Number of objects loaded so far. */
uint64_t real_loads(void);

#define REAL_CALLER() real_caller(__builtin_return_address(0))

#endif
