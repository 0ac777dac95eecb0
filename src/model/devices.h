/* Countable devices besides CPUs, GPUs and memory: accelerators of another kind, licences, ports.
 * A cluster names up to DEVICES_MAX kinds; a job needs some of them on each node that it uses. */
#ifndef MODEL_DEVICES_H
#define MODEL_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

enum { DEVICES_MAX = 4, DEVICES_LIMIT = 10000 };

/* By kind: how many there are, are held, free or needed. */
struct devices {
    int32_t of[DEVICES_MAX];
};

static inline bool devices_any(const struct devices *d)
{
    return d->of[0] | d->of[1] | d->of[2] | d->of[3];
}

static inline bool devices_equal(const struct devices *a, const struct devices *b)
{
    return a->of[0] == b->of[0] && a->of[1] == b->of[1] && a->of[2] == b->of[2] &&
           a->of[3] == b->of[3];
}

/* Whether there are as many of each as are needed. */
static inline bool devices_fit(const struct devices *needed, const struct devices *there)
{
    return needed->of[0] <= there->of[0] && needed->of[1] <= there->of[1] &&
           needed->of[2] <= there->of[2] && needed->of[3] <= there->of[3];
}

/* Adds `what` `times` times, which may be negative. */
static inline void devices_add(struct devices *to, const struct devices *what, int times)
{
    for (int i = 0; i < DEVICES_MAX; i++)
        to->of[i] += times * what->of[i];
}

/* Raises each to that of `other`. */
static inline void devices_raise(struct devices *to, const struct devices *other)
{
    for (int i = 0; i < DEVICES_MAX; i++)
        to->of[i] = other->of[i] > to->of[i] ? other->of[i] : to->of[i];
}

#endif
