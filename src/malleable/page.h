/* The page that a conductor shares with its job: one file of 4096 bytes, which the conductor
 * creates and both map. The conductor writes how many threads the job may use; the preload library
 * (or a program that reads the page itself) writes what it has done. The environment variable
 * TRAINYARD_CONTROL names the file.
 *
 * Every access is atomic. Threads and generation share one word, so that nobody sees the threads
 * of one order with the generation of another. Each writer has its own cache lines. The layout
 * is fixed: programs in other languages read it by offset (docs/malleable.md has the table),
 * least significant byte first. */
#ifndef MALLEABLE_PAGE_H
#define MALLEABLE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_VARIABLE "TRAINYARD_CONTROL"
#define PAGE_MAGIC UINT64_C(0x31647261796e7274) /* the bytes "trnyard1" */

enum { PAGE_BYTES = 4096, PAGE_VERSION = 1 };

/* Software in a job that is known not to cope with fewer CPUs. The numbers are part of the
 * layout. */
enum page_misfit {
    PAGE_FITS,
    PAGE_ONNX_RUNTIME, /* with its own threads, which spin while they look for work */
};

struct page {
    uint64_t magic; /* PAGE_MAGIC, written last by whoever creates the page */
    uint32_t version;
    uint32_t bytes;

    /* Written by the conductor. */
    _Alignas(64) uint64_t order; /* threads in the lower half (0 = no limit), generation above */
    int64_t ordered_ns;          /* time of the order, CLOCK_MONOTONIC */
    uint32_t processors;         /* the job's largest size; never changes; 0 = unknown */

    /* Written by a program that wants this signal sent to this process after each order. 0 =
     * none. */
    _Alignas(64) uint32_t listener_pid;
    uint32_t listener_signal;

    /* Written by the library, in any process of the job. */
    _Alignas(64) uint64_t applied; /* threads of a region, and the newest order that it obeyed */
    int64_t applied_ns;            /* time at which that order was first obeyed */
    int64_t spent_ns;              /* time spent in the library on look-ups, not per region */
    uint32_t attached;             /* number of processes that have ever mapped the page */
    uint32_t misfit;               /* enum page_misfit */

    /* Number of parallel regions with as many threads as without the library, and with fewer.
     * Each region counts in one of them, because an atomic addition takes longer than everything
     * else. */
    _Alignas(64) uint64_t whole;
    uint64_t clamped;

    _Alignas(64) uint8_t unused[PAGE_BYTES - 320];
};

_Static_assert(sizeof(struct page) == PAGE_BYTES, "the page is one page");
_Static_assert(offsetof(struct page, order) == 64, "order");
_Static_assert(offsetof(struct page, ordered_ns) == 72, "ordered_ns");
_Static_assert(offsetof(struct page, processors) == 80, "processors");
_Static_assert(offsetof(struct page, listener_pid) == 128, "listener_pid");
_Static_assert(offsetof(struct page, listener_signal) == 132, "listener_signal");
_Static_assert(offsetof(struct page, applied) == 192, "applied");
_Static_assert(offsetof(struct page, applied_ns) == 200, "applied_ns");
_Static_assert(offsetof(struct page, spent_ns) == 208, "spent_ns");
_Static_assert(offsetof(struct page, attached) == 216, "attached");
_Static_assert(offsetof(struct page, misfit) == 220, "misfit");
_Static_assert(offsetof(struct page, whole) == 256, "whole");
_Static_assert(offsetof(struct page, clamped) == 264, "clamped");
_Static_assert(__atomic_always_lock_free(sizeof(uint64_t), 0), "words of 64 bits are atomic");

#define PAGE_GET(p, member) __atomic_load_n(&(p)->member, __ATOMIC_ACQUIRE)
#define PAGE_SET(p, member, value) __atomic_store_n(&(p)->member, (value), __ATOMIC_RELEASE)
#define PAGE_ADD(p, member, value) __atomic_fetch_add(&(p)->member, (value), __ATOMIC_RELAXED)

/* Both halves of `order` and `applied`. */
static inline uint32_t page_threads(uint64_t word)
{
    return (uint32_t)word;
}
static inline uint32_t page_generation(uint64_t word)
{
    return (uint32_t)(word >> 32);
}
static inline uint64_t page_word(uint32_t generation, uint32_t threads)
{
    return (uint64_t)generation << 32 | threads;
}

/* Whether generation a is newer than b; they wrap around. */
static inline bool page_newer(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* Orders a number of threads and returns the generation of the order, which is never 0. Only for
 * the conductor. */
static inline uint32_t page_order(struct page *p, uint32_t threads, int64_t now_ns)
{
    uint32_t generation = page_generation(PAGE_GET(p, order)) + 1;
    generation += generation == 0;
    PAGE_SET(p, ordered_ns, now_ns);
    PAGE_SET(p, order, page_word(generation, threads));
    return generation;
}

/* Initialises a page of 4096 zeroed bytes, with the job's largest size and its first order. */
static inline void page_init(struct page *p, uint32_t processors, uint32_t threads, int64_t now_ns)
{
    PAGE_SET(p, processors, processors);
    PAGE_SET(p, version, PAGE_VERSION);
    PAGE_SET(p, bytes, PAGE_BYTES);
    page_order(p, threads, now_ns);
    PAGE_SET(p, magic, PAGE_MAGIC);
}

/* Whether mapped bytes are a page of this version. */
static inline bool page_is_ours(const struct page *p)
{
    return PAGE_GET(p, magic) == PAGE_MAGIC && PAGE_GET(p, version) == PAGE_VERSION &&
           PAGE_GET(p, bytes) == PAGE_BYTES;
}

/* Records that a region of this many threads has obeyed an order. Changes nothing if a newer
 * order was already obeyed. Any process of the job may call it. */
static inline void page_apply(struct page *p, uint32_t generation, uint32_t threads, int64_t now_ns)
{
    uint64_t was = PAGE_GET(p, applied), word = page_word(generation, threads);
    do {
        if (!page_newer(generation, page_generation(was)))
            return;
        PAGE_SET(p, applied_ns, now_ns);
    } while (!__atomic_compare_exchange_n(&p->applied, &was, word, false, __ATOMIC_RELEASE,
                                          __ATOMIC_ACQUIRE));
}

#endif
