/* Pairing things of a few types so that the sum of the pairs' weights is large. */
#ifndef POLICY_ALLOCATE_PAIRING_H
#define POLICY_ALLOCATE_PAIRING_H

#include <stdint.h>

#include "base/mem.h"

#define PAIRING_ALONE UINT32_MAX

/* Each of n things has a type below `types`. w[a * types + b] is the weight of a pair of these
 * types, symmetric; 0 = they cannot be paired. Returns the partner of each, or PAIRING_ALONE. No
 * exchange of partners between two pairs increases the sum of the weights. */
uint32_t *pairing_find(const uint32_t *type, uint32_t n, const float *w, uint32_t types,
                       struct arena *a);

#endif
