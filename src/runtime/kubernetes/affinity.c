/* Owns the choice of CPUs. */
#include "runtime/kubernetes/affinity.h"

#include <stdlib.h>

static bool has(const struct affinity *a, int cpu)
{
    return a->bits[cpu / 64] >> (cpu % 64) & 1;
}

static void flip(struct affinity *a, int cpu)
{
    if (cpu < 0)
        return; /* there is none to choose */
    a->bits[cpu / 64] ^= 1ULL << (cpu % 64);
}

/* The CPU that is used least among those that it has, or has not; the lowest of them when it is to
 * be added, the highest when it is to be removed. */
static int choose(const struct affinity *a, int processors, const uint16_t *used, bool held)
{
    int best = -1;
    for (int i = 0; i < processors; i++) {
        if (has(a, i) != held)
            continue;
        bool better = best < 0 || (held ? used[i] >= used[best] : used[i] < used[best]);
        best = better ? i : best;
    }
    return best;
}

static void write_text(struct affinity *a, int processors)
{
    struct str text = {0};
    for (int i = 0; i < processors; i++) {
        int last = i;
        if (!has(a, i))
            continue;
        while (last + 1 < processors && has(a, last + 1))
            last++;
        str_addf(&text, last > i ? "%s%d-%d" : "%s%d", text.n ? "," : "", i, last);
        i = last;
    }
    free(a->text);
    a->text = text.at;
}

void affinity_set(struct affinity *a, int processors, int want, const uint16_t *used)
{
    int n = 0;
    processors = processors < AFFINITY_MAX ? processors : AFFINITY_MAX;
    want = want < processors ? want : processors;
    for (int i = 0; i < processors; i++)
        n += has(a, i);
    for (; n < want; n++)
        flip(a, choose(a, processors, used, false));
    for (; n > want; n--)
        flip(a, choose(a, processors, used, true));
    write_text(a, processors);
}

void affinity_count(const struct affinity *a, int processors, uint16_t *used)
{
    for (int i = 0; i < processors && i < AFFINITY_MAX; i++)
        used[i] = (uint16_t)(used[i] + has(a, i));
}

void affinity_done(struct affinity *a)
{
    free(a->text);
    a->text = NULL;
}
