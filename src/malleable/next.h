/* The C library's own functions. There is one of each, whoever calls. */
#ifndef MALLEABLE_NEXT_H
#define MALLEABLE_NEXT_H

#include <dlfcn.h>

/* The next function of that name after this library. Its user defines _GNU_SOURCE. */
#define NEXT(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&name) kept;                                                             \
        __typeof__(&name) function = __atomic_load_n(&kept, __ATOMIC_RELAXED);                     \
        if (!function) {                                                                           \
            function = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                 \
            __atomic_store_n(&kept, function, __ATOMIC_RELAXED);                                   \
        }                                                                                          \
        function;                                                                                  \
    })

#endif
