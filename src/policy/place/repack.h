/* Packing tasks onto empty nodes so that as few units as possible move: the computing part of
 * the placer best-fit. policy/place/regroup.c decides what is packed, and whether the result is
 * worth its moves. */
#ifndef POLICY_PLACE_REPACK_H
#define POLICY_PLACE_REPACK_H

#include "policy/room.h"

struct parcel {
    const struct task *task;
    uint32_t grant;      /* index into the plan's grants */
    units_t want, least; /* units that it should get and must get; least 0 = it may be left out */
    units_t n;           /* result: want, otherwise least */
    struct placement at; /* result */
};

struct repack {
    unsigned pool;
    struct room room;      /* what is free without the parcels; is used up */
    const uint32_t *nodes; /* nodes that can be used: up, with units of the pool */
    uint32_t nnodes;
    struct parcel *parcels; /* which get the result */
    uint32_t n;
};

/* Packs all parcels. False if one does not even get its least; the results are then undefined.
 * Memory comes from the room's arena. */
bool repack_solve(struct repack *r);

#endif
