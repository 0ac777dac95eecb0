/* Owns the arithmetic of placements. */
#include "model/placement.h"

units_t placement_units(const struct placement *p)
{
    units_t sum = 0;
    for (uint32_t i = 0; i < p->n; i++)
        sum += p->at[i].units;
    return sum;
}

units_t placement_on(const struct placement *p, uint32_t node)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->at[i].node == node)
            return p->at[i].units;
    return 0;
}

units_t placement_lost(const struct placement *old, const struct placement *new)
{
    units_t lost = 0;
    for (uint32_t i = 0; i < old->n; i++) {
        units_t stays = placement_on(new, old->at[i].node);
        lost += old->at[i].units > stays ? old->at[i].units - stays : 0;
    }
    return lost;
}
