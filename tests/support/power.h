/* A disk that forgets: SQLite's files go through it, it remembers which writes were
 * followed by a sync, and when the power fails it keeps those, and of the others
 * what chance wills: all, none, or some sectors of each. */
#ifndef SUPPORT_POWER_H
#define SUPPORT_POWER_H

#include <stdint.h>

#include "base/rng.h"

/* From now on databases that are opened are on this disk; what they hold at that
 * moment is safe. */
void power_begin(void);
void power_end(void);

/* The power fails at the n-th write or sync from now: that one and all that follow
 * fail. */
void power_fail_after(uint64_t n);

/* Leaves the files as they are found when the power is back. Nothing may have them
 * open. Forgets about them. */
void power_return(struct rng *r);

/* Writes and syncs since power_begin(). */
uint64_t power_operations(void);

#endif
