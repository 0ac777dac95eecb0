/* Owns the list of modules that have called. Records are added and never moved, so readers need no
 * lock; two threads that see a module for the first time at once may add it twice, which is
 * harmless. Look-ups are cached: on the common path a call compares an address with the ranges of a
 * few modules.
 *
 * A record is valid as long as no library was unloaded since it was written. When the array is
 * full, a thread looks up each new caller again, in a record of its own. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "malleable/real.h"

#include "malleable/target.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES_MAX = 128 };

/* Process-wide, because a preloaded library has no caller that could hold it. */
static struct {
    struct module at[MODULES_MAX];
    uint32_t n; /* may exceed MODULES_MAX */
} modules;
struct real_state real_state;

__thread struct module *real_last;
static __thread struct module spare; /* used when the array is full */

/* Where this library begins. The linker names it.
 * NOLINTNEXTLINE(bugprone-reserved-identifier) */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

#define REAL_NAME(name) #name,
static const char *const names[REAL_COUNT] = {REAL_FUNCTIONS(REAL_NAME)};
#undef REAL_NAME

/* Libraries by the prefix of their names; all others are plain. */
static const struct {
    const char *library;
    enum kind kind;
} kinds[] = {
    {"libopenblas", KIND_BLAS}, {"libblas.", KIND_BLAS},  {"libcblas.", KIND_BLAS},
    {"liblapack", KIND_BLAS},   {"libblis", KIND_BLAS},   {"libmkl_", KIND_BLAS},
    {"libtorch", KIND_TORCH},   {"libdnnl.", KIND_TORCH},
};

struct search {
    uintptr_t address;
    struct module *m;
};

static int match_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *s = data;
    uintptr_t start = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD)
            continue;
        uintptr_t from = info->dlpi_addr + h->p_vaddr;
        start = from < start ? from : start;
        end = from + h->p_memsz > end ? from + h->p_memsz : end;
    }
    if (s->address < start || s->address >= end)
        return 0;
    s->m->start = start;
    s->m->end = end;
    return 1;
}

static enum kind kind_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(base, kinds[i].library, strlen(kinds[i].library)) == 0)
            return kinds[i].kind;
    return KIND_PLAIN;
}

/* Fills a record for the object that contains an address. An address in no object (code
 * generated at run time) is a plain module of its own. */
static struct module look_up(const void *address)
{
    struct module m = {.unloads = __atomic_load_n(&real_state.unloads, __ATOMIC_ACQUIRE)};
    struct search s = {(uintptr_t)address, &m};
    Dl_info info;
    if (!dl_iterate_phdr(match_object, &s)) {
        m.start = (uintptr_t)address;
        m.end = m.start + 1;
    }
    if (dladdr1(address, &info, (void **)&m.map, RTLD_DL_LINKMAP) && m.map && info.dli_fname)
        m.kind = kind_of(info.dli_fname);
    return m;
}

/* A record to write: one whose addresses now belong to the new module, or else a new one. */
static struct module *take_record(const struct module *m)
{
    uint32_t n = __atomic_load_n(&modules.n, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < MODULES_MAX; i++)
        if (modules.at[i].start < m->end && m->start < modules.at[i].end)
            return &modules.at[i];
    if (n < MODULES_MAX)
        n = __atomic_fetch_add(&modules.n, 1, __ATOMIC_ACQ_REL);
    return n < MODULES_MAX ? &modules.at[n] : &spare;
}

static struct module *add_module(const void *address)
{
    int64_t began = target_now();
    struct module m = look_up(address), *at = take_record(&m);
    __atomic_store_n(&at->end, 0, __ATOMIC_RELEASE);
    at->start = m.start;
    at->kind = m.kind;
    at->map = m.map;
    for (size_t i = 0; i < REAL_COUNT; i++)
        __atomic_store_n(&at->real[i], NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&at->unloads, m.unloads, __ATOMIC_RELAXED);
    __atomic_store_n(&at->end, m.end, __ATOMIC_RELEASE);
    target_spend(began);
    return at;
}

struct module *real_look_up(const void *address)
{
    uint32_t n = __atomic_load_n(&modules.n, __ATOMIC_ACQUIRE);
    n = n < MODULES_MAX ? n : MODULES_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (real_is_inside(&modules.at[i], address))
            return real_last = &modules.at[i];
    return real_last = add_module(address);
}

/* Not one of this library's own. */
static void *foreign(void *function)
{
    Dl_info info;
    bool own = function && dladdr(function, &info) && info.dli_fbase == (const void *)__ehdr_start;
    return own ? NULL : function;
}

void real_each(bool (*see)(const char *path, void *data), void *data)
{
    struct link_map *own = NULL;
    Dl_info info;
    if (!dladdr1(__ehdr_start, &info, (void **)&own, RTLD_DL_LINKMAP))
        return;
    while (own && own->l_prev)
        own = own->l_prev;
    while (own && !see(own->l_name, data))
        own = own->l_next;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(uint64_t *)data = info->dlpi_adds;
    return 1;
}

uint64_t real_loads(void)
{
    uint64_t loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    return loads;
}

/* Closes a handle with the C library's own dlclose; this library's would invalidate every
 * record. */
void *real_in(const char *path, const char *name)
{
    int (*give_back)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    void *handle = dlopen(*path ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *function = handle ? foreign(dlsym(handle, name)) : NULL;
    if (handle && give_back)
        give_back(handle);
    return function;
}

struct binding {
    const char *name;
    void *function;
};

static bool bind_in(const char *path, void *data)
{
    struct binding *b = data;
    b->function = real_in(path, b->name);
    return b->function;
}

/* As the dynamic linker would bind the module: in the global scope, then in what the module
 * itself needs. A library that was loaded with RTLD_LOCAL on its behalf is found among all
 * loaded objects. */
static void *bind_function(const struct module *m, const char *name)
{
    struct binding b = {name, dlsym(RTLD_NEXT, name)};
    if (!b.function && m->map)
        bind_in(m->map->l_name, &b);
    if (!b.function)
        real_each(bind_in, &b);
    return b.function;
}

void *real_bind(struct module *m, enum real which)
{
    int64_t began = target_now();
    void *function = bind_function(m, names[which]);
    __atomic_store_n(&m->real[which], function, __ATOMIC_RELAXED);
    target_spend(began);
    return function;
}

_Noreturn void real_lack(const struct module *m, enum real which)
{
    const char *who = m->map && *m->map->l_name ? m->map->l_name : "the program";
    fprintf(stderr, "libtrainyard-malleable: no library has %s, which %s calls\n", names[which],
            who);
    _Exit(127);
}

void real_forget(void)
{
    __atomic_fetch_add(&real_state.unloads, 1, __ATOMIC_RELEASE);
}
