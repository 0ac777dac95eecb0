/* Random structs of a record, for tests of what must hold for all of them. */
#ifndef SUPPORT_RANDOM_RECORD_H
#define SUPPORT_RANDOM_RECORD_H

#include "base/record.h"
#include "base/rng.h"

/* Fills in every member with a value that it may have; one in `absent` optional members is
 * left at its default (0 = none). Texts and lists are in the arena. */
void random_record(const struct record *r, struct rng *rng, unsigned absent, struct arena *a,
                   void *out);

#endif
