/* A fresh packing of tasks onto nodes that moves as few units as it can: the
 * part of the placer best-fit that computes; policy/place/best_fit.c decides what is
 * packed and whether the outcome is worth its moves. */
#ifndef POLICY_PLACE_REPACK_H
#define POLICY_PLACE_REPACK_H

#include "policy/room.h"

struct parcel {
    const struct task *task;
    uint32_t grant; /* index into the plan's grants */
    units_t want,
        least; /* units it should get; what it must get at the least, 0 = may be left out */
    units_t n; /* outcome: want, else least */
    struct placement at; /* outcome */
};

struct repack {
    unsigned pool;
    struct room room;      /* what is free with every parcel off its nodes; used up */
    const uint32_t *nodes; /* that may be used: up, with units of the pool */
    uint32_t nnodes;
    struct parcel *parcels; /* the outcome is written into them */
    uint32_t n;
};

/* Packs all parcels. False when one does not get even its least; the outcomes
 * are then of no use. Memory comes from the room's arena. */
bool repack_solve(struct repack *r);

#endif
