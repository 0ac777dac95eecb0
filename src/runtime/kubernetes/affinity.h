/* Which CPUs of a node an attempt runs on, where the limits of its pod cannot be changed while it
 * runs: as many as it was granted, and no two attempts on the same ones if there are enough. */
#ifndef RUNTIME_KUBERNETES_AFFINITY_H
#define RUNTIME_KUBERNETES_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { AFFINITY_MAX = 1024 };

struct affinity {
    uint64_t bits[AFFINITY_MAX / 64];
    char *text; /* as the kernel writes it; NULL = none */
};

/* Changes it to `want` CPUs of `processors`. Keeps those it has, and prefers those that nobody in
 * `used` has: how many attempts each CPU has, `processors` of them, without this one. */
void affinity_set(struct affinity *a, int processors, int want, const uint16_t *used);
/* Counts its CPUs in `used`. */
void affinity_count(const struct affinity *a, int processors, uint16_t *used);
void affinity_done(struct affinity *a);

#endif
