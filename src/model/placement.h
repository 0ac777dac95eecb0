/* Where units are: on which nodes, and how many on each. */
#ifndef MODEL_PLACEMENT_H
#define MODEL_PLACEMENT_H

#include <stdint.h>

#include "model/speed.h"

struct slot {
    uint32_t node;
    units_t units;
};

struct placement {
    struct slot *at; /* each node once */
    uint32_t n;
};

/* Units in all. */
units_t placement_units(const struct placement *p);
/* Units on this node. */
units_t placement_on(const struct placement *p, uint32_t node);
/* Units of the old places that are not in the new ones. */
units_t placement_lost(const struct placement *old, const struct placement *new);

#endif
