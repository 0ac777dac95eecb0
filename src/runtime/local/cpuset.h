/* A set of CPUs by the kernel's numbers, as sched_setaffinity takes it and as the
 * kernel writes it ("0-1,4"). */
#ifndef RUNTIME_LOCAL_CPUSET_H
#define RUNTIME_LOCAL_CPUSET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { CPUSET_MAX = 4096, CPUSET_WORD = sizeof(unsigned long) * CHAR_BIT };

struct cpuset {
    unsigned long bits[CPUSET_MAX / CPUSET_WORD];
};

static inline void cpuset_add(struct cpuset *s, uint32_t cpu)
{
    if (cpu < CPUSET_MAX)
        s->bits[cpu / CPUSET_WORD] |= 1UL << cpu % CPUSET_WORD;
}

static inline bool cpuset_has(const struct cpuset *s, uint32_t cpu)
{
    return cpu < CPUSET_MAX && s->bits[cpu / CPUSET_WORD] >> cpu % CPUSET_WORD & 1;
}

uint32_t cpuset_count(const struct cpuset *s);

/* Replaces the text of *out; "" for no CPUs. */
void cpuset_format(const struct cpuset *s, struct str *out);

/* Spaces and a newline at the end are ignored. */
int cpuset_parse(const char *text, struct cpuset *out, struct err *err);

#endif
