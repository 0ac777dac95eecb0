/* Memory: allocation that aborts on failure (the state is in the store, and start-up recovers),
 * an arena for data with the lifetime of one decision or one trace, a typed vector, and cleanup
 * attributes. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
/* Grows an array from `had` to n elements and zeroes the new ones. */
void *xgrowarray(void *p, size_t had, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/* An arena allocates zeroed memory that is freed all at once. arena_reset keeps the blocks for
 * the next round. */
struct arena_block;
struct arena {
    struct arena_block *first, *now;
    size_t used; /* bytes used in block `now` */
};
void *arena_alloc(struct arena *a, size_t size);
void *arena_alloc_array(struct arena *a, size_t n, size_t size);
/* Not zeroed: the caller overwrites all of it. */
void *arena_raw(struct arena *a, size_t size);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
void arena_reset(struct arena *a);
void arena_done(struct arena *a);
/* Bytes held, used or not. */
size_t arena_size(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, n, type) ((type *)arena_alloc_array((a), (n), sizeof(type)))

/* struct { int *at; size_t n, cap; } v = {0}; VEC_PUSH(&v, 7); */
#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }
#define VEC_RESERVE(v, want)                                                                       \
    do {                                                                                           \
        if ((v)->cap < (size_t)(want)) {                                                           \
            (v)->cap = (v)->cap * 2 > (size_t)(want) ? (v)->cap * 2 : (size_t)(want);              \
            (v)->at = xreallocarray((v)->at, (v)->cap, sizeof *(v)->at);                           \
        }                                                                                          \
    } while (0)
#define VEC_PUSH(v, ...)                                                                           \
    do {                                                                                           \
        VEC_RESERVE(v, (v)->n + 1);                                                                \
        (v)->at[(v)->n++] = __VA_ARGS__;                                                           \
    } while (0)
#define VEC_DONE(v)                                                                                \
    do {                                                                                           \
        free((v)->at);                                                                             \
        (v)->at = NULL;                                                                            \
        (v)->n = (v)->cap = 0;                                                                     \
    } while (0)

void auto_free(void *p);
void auto_close(const int *fd);
#define AUTO_FREE __attribute__((cleanup(auto_free)))
#define AUTO_CLOSE __attribute__((cleanup(auto_close)))
/* Releases an AUTO_FREE pointer. */
#define TAKE(p)                                                                                    \
    __extension__({                                                                                \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

#endif
