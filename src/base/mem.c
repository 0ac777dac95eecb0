/* Owns heap and arena memory. An arena is a list of blocks; `now` is the one being filled, and
 * later blocks are empty ones kept by arena_reset. */
#include "base/mem.h"

#include <stdint.h>
#include <unistd.h>

/* Blocks double from the first to the largest, so that a small arena stays small. */
enum { BLOCK_FIRST = 1024, BLOCK_LARGEST = 64 * 1024, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    _Alignas(ALIGN) char data[];
};

void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        abort();
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        abort();
    return p;
}

void *xrealloc(void *p, size_t size)
{
    p = realloc(p, size ? size : 1);
    if (!p)
        abort();
    return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        abort();
    return xrealloc(p, n * size);
}

void *xgrowarray(void *p, size_t had, size_t n, size_t size)
{
    char *grown = xreallocarray(p, n, size);
    memset(grown + had * size, 0, (n - had) * size);
    return grown;
}

char *xstrndup(const char *s, size_t n)
{
    char *copy = xmalloc(n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

static struct arena_block *block_create(size_t size)
{
    struct arena_block *b = xmalloc(sizeof *b + size);
    b->next = NULL;
    b->size = size;
    return b;
}

/* Makes `now` a block with room for `size`: the next kept one if it is large enough, otherwise a
 * new one inserted before it. */
static void arena_advance(struct arena *a, size_t size)
{
    struct arena_block *next = a->now ? a->now->next : a->first;
    if (!next || next->size < size) {
        size_t usual = a->now ? a->now->size * 2 : BLOCK_FIRST;
        if (usual > BLOCK_LARGEST)
            usual = BLOCK_LARGEST;
        struct arena_block *b = block_create(size > usual ? size : usual);
        b->next = next;
        if (a->now)
            a->now->next = b;
        else
            a->first = b;
        next = b;
    }
    a->now = next;
    a->used = 0;
}

void *arena_raw(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ALIGN)
        abort();
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!a->now || a->now->size - a->used < size)
        arena_advance(a, size);
    void *p = a->now->data + a->used;
    a->used += size;
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    return memset(arena_raw(a, size), 0, size);
}

void *arena_alloc_array(struct arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        abort();
    return arena_alloc(a, n * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_raw(a, n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

void arena_reset(struct arena *a)
{
    /* Replaces the blocks of the last round by one. Otherwise rounds that each need slightly
     * more than the last would leave a block behind every time. */
    if (a->first && a->first->next) {
        size_t size = 0;
        for (const struct arena_block *b = a->first; b; b = b->next)
            size += b->size;
        arena_done(a);
        a->first = block_create(size);
    }
    a->now = a->first;
    a->used = 0;
}

void arena_done(struct arena *a)
{
    for (struct arena_block *b = a->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct arena){0};
}

size_t arena_size(const struct arena *a)
{
    size_t sum = 0;
    for (const struct arena_block *b = a->first; b; b = b->next)
        sum += b->size;
    return sum;
}

void auto_free(void *p)
{
    void *held;
    memcpy(&held, p, sizeof held);
    free(held);
}

void auto_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
