/* Owns the mapped page and what each thread was told. The page is mapped once, when the library
 * is loaded or the processors are first queried, and survives fork; an exec loads the library
 * again. Nothing here locks or waits. */
#include "malleable/target.h"

#include "malleable/blas.h"
#include "malleable/python.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Flag in shared.blas: more than one thread runs the BLAS. */
static const uint32_t blas_is_shared = UINT32_C(1) << 31;

/* Process-wide, because a preloaded library has no caller that could hold it. */
static struct {
    struct page *page;       /* NULL = none */
    bool looked;             /* whether the page was looked up */
    const void *blas_thread; /* the first thread that ran the BLAS */
    uint32_t blas;           /* the last number told to the BLAS, and blas_is_shared */
} shared;

static __thread struct {
    uint32_t told; /* the number told to the BLAS on this thread; 0 = none yet */
} mine;

bool target_is_set(void)
{
    return shared.page;
}

uint64_t target_order(void)
{
    return shared.page ? PAGE_GET(shared.page, order) : 0;
}

int64_t target_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void target_spend(int64_t began)
{
    if (shared.page)
        PAGE_ADD(shared.page, spent_ns, target_now() - began);
}

void target_obey(uint64_t order, uint32_t threads)
{
    struct page *p = shared.page;
    uint32_t generation = page_generation(order);
    if (p && page_newer(generation, page_generation(PAGE_GET(p, applied))))
        page_apply(p, generation, threads, target_now());
}

void target_misfit(enum page_misfit what)
{
    if (shared.page)
        PAGE_SET(shared.page, misfit, (uint32_t)what);
}

/* No limit counts as the largest one. */
static uint32_t limit_of(uint64_t order)
{
    uint32_t threads = page_threads(order);
    return threads ? threads : UINT32_MAX;
}

static uint32_t min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Number of threads that run next to this one in the enclosing regions. */
static uint32_t threads_around(struct module *m)
{
    int (*active)(void) = real_find(m, REAL_omp_get_active_level);
    if (!active || active() == 0)
        return 1;
    int (*level)(void) = real_find(m, REAL_omp_get_level);
    int (*team)(int) = real_find(m, REAL_omp_get_team_size);
    uint32_t n = 1;
    for (int i = level && team ? level() : 0; i > 0; i--)
        n *= (uint32_t)team(i);
    return n;
}

/* A nested region gets this thread's part of the limit. */
static unsigned plain_region(struct module *m, uint64_t order, uint32_t max)
{
    uint32_t limit = limit_of(order), around = limit > 1 ? threads_around(m) : 1;
    blas_follow(order);
    if (around > 1)
        return min(max, limit / around ? limit / around : 1);
    target_obey(order, min(max, limit));
    return min(max, limit);
}

/* The threads of a region without a count of its own, where the runtime would use max. */
static unsigned limited(struct module *m, uint32_t max)
{
    uint64_t order = target_order();
    if (m->kind == KIND_BLAS)
        return mine.told ? mine.told : max;
    if (m->kind != KIND_TORCH || !python_holds(&order))
        return plain_region(m, order, max);
    uint32_t n = min(max, limit_of(order));
    target_obey(order, n);
    return n;
}

unsigned target_region(struct module *m, unsigned asked)
{
    struct page *p = shared.page;
    if (!p)
        return asked;
    int (*get_max)(void) = asked ? NULL : real_find(m, REAL_omp_get_max_threads);
    uint32_t max = get_max ? (uint32_t)get_max() : 0, n = max ? limited(m, max) : 0;
    if (n < max) {
        PAGE_ADD(p, clamped, 1);
        return n;
    }
    PAGE_ADD(p, whole, 1);
    return asked;
}

/* The BLAS has one number for the whole process, and reallocates its buffers when it changes.
 * That is safe as long as one thread uses it; once a second thread does, the number never
 * changes again. */
static uint32_t settle_blas(uint32_t wish)
{
    const void *first = NULL;
    if (!__atomic_compare_exchange_n(&shared.blas_thread, &first, &mine, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        first != &mine)
        return __atomic_fetch_or(&shared.blas, blas_is_shared, __ATOMIC_ACQ_REL) & ~blas_is_shared;
    uint32_t was = __atomic_load_n(&shared.blas, __ATOMIC_ACQUIRE);
    while (!(was & blas_is_shared) && was != wish &&
           !__atomic_compare_exchange_n(&shared.blas, &was, wish, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    return was & blas_is_shared ? was & ~blas_is_shared : wish;
}

/* Remembers what the BLAS is told, for its next region on this thread. Inside a region it uses
 * one thread and plans nothing. */
static uint32_t tell_blas(struct module *m, uint64_t order, uint32_t max)
{
    uint32_t wish = min(max, limit_of(order));
    if (threads_around(m) > 1)
        return wish;
    uint32_t n = settle_blas(wish);
    mine.told = n ? min(max, n) : max;
    if (n == wish)
        target_obey(order, n);
    return mine.told;
}

int target_max(struct module *m, int max)
{
    uint64_t order = target_order();
    if (!shared.page)
        return max;
    if (m->kind == KIND_BLAS)
        return (int)tell_blas(m, order, (uint32_t)max);
    if (m->kind != KIND_TORCH || !python_holds(&order))
        return max;
    uint32_t n = min((uint32_t)max, limit_of(order));
    target_obey(order, n);
    return (int)n;
}

bool target_is_echo(const struct module *m, int threads)
{
    return shared.page && m->kind == KIND_BLAS && threads > 0 && (uint32_t)threads == mine.told;
}

/* Maps the page that the environment names. Without a valid one the program runs as usual.
 * Nothing is printed, because the library is in every process of the job and the output is the
 * job's. */
static struct page *map_page(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == PAGE_BYTES)
        at = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    if (page_is_ours(at))
        return at;
    munmap(at, PAGE_BYTES);
    return NULL;
}

/* Constructors of other libraries may run before this one. */
static void attach(void)
{
    const char *path = getenv(PAGE_VARIABLE);
    if (__atomic_exchange_n(&shared.looked, true, __ATOMIC_ACQ_REL))
        return;
    struct page *p = path && *path ? map_page(path) : NULL;
    if (p)
        PAGE_ADD(p, attached, 1);
    shared.page = p;
}

__attribute__((constructor)) static void attach_when_loaded(void)
{
    attach();
}

unsigned target_processors(void)
{
    if (!__atomic_load_n(&shared.looked, __ATOMIC_ACQUIRE))
        attach();
    return shared.page ? PAGE_GET(shared.page, processors) : 0;
}
