/* The removal of old rows. */
#ifndef STORE_TRIM_H
#define STORE_TRIM_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Deletes events and samples of jobs that ended before `before`, older events about no
 * job, and the rows of boots that had ended by then. The newest event and the newest row
 * of the journal stay, as numbers go on from them. Removes at most STORE_TRIM_STEP rows,
 * so that a loop turn stays short: call it again, turn by turn, until *removed is 0. A
 * job of which nothing is left to trim counts as a row. */
#define STORE_TRIM_STEP 5000
int store_trim(struct store *s, usec_t before, uint64_t *removed, struct err *err);

#endif
