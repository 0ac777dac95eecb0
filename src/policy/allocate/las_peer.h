/* Least attained service as in other simulators. */
#ifndef POLICY_ALLOCATE_LAS_PEER_H
#define POLICY_ALLOCATE_LAS_PEER_H

#include "policy/allocate/las.h"

/* The allocation under the event rules of Tiresias' or ElasticFlow's simulator. */
void las_peer_allocate(const struct las *own, const struct snapshot *s, struct keyed *k,
                       struct plan *plan);

#endif
