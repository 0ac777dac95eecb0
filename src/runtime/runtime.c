/* Owns the queue of completed operations, and what several runtimes need. */
#include "runtime/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void runtime_host_init(struct runtime_host *h)
{
    h->completed = NULL;
    h->completed_end = &h->completed;
}

void runtime_complete(struct runtime_host *h, struct runtime_op *op)
{
    op->next = NULL;
    *h->completed_end = op;
    h->completed_end = &op->next;
}

struct runtime_op *runtime_collect(struct runtime_host *h)
{
    struct runtime_op *op = h->completed;
    if (!op)
        return NULL;
    h->completed = op->next;
    if (!h->completed)
        h->completed_end = &h->completed;
    return op;
}

/* FNV-1a over the absolute path. */
static uint64_t hash_path(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        hash = (hash ^ *p) * 0x100000001b3;
    return hash;
}

int runtime_yard_id(const struct runtime_host *h, char id[RUNTIME_YARD_SIZE], struct err *err)
{
    char *full AUTO_FREE = realpath(h->state_dir, NULL);
    if (!full)
        return err_set(err, ERR_IO, "state directory %s: %s", h->state_dir, strerror(errno));
    snprintf(id, RUNTIME_YARD_SIZE, "%016llx", (unsigned long long)hash_path(full));
    return 0;
}

static const char *copy_text(const char *from, struct arena *a)
{
    return from ? arena_strdup(a, from) : NULL;
}

static const char **copy_list(const char **from, struct arena *a)
{
    size_t n = 0;
    while (from && from[n])
        n++;
    const char **to = ARENA_ARRAY(a, n + 1, const char *);
    for (size_t i = 0; i < n; i++)
        to[i] = arena_strdup(a, from[i]);
    return to;
}

struct runtime_container runtime_container_copy(const struct runtime_container *from,
                                                struct arena *a)
{
    struct runtime_container to = *from;
    to.image = copy_text(from->image, a);
    to.run_as = copy_text(from->run_as, a);
    to.upload = copy_text(from->upload, a);
    to.mounts = copy_list(from->mounts, a);
    to.ulimits = copy_list(from->ulimits, a);
    return to;
}

bool runtime_is_mounted(const char *const *mounts, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        const char *target = strchr(mounts[i], ':') + 1;
        size_t n = strcspn(target, ":");
        while (n > 1 && target[n - 1] == '/')
            n--;
        if (!strncmp(path, target, n) && (!path[n] || path[n] == '/' || n == 1))
            return true;
    }
    return false;
}
