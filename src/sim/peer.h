/* The event rules of ElasticFlow's simulator, for comparing with it: see
 * docs/peers.md. Under any other rules these functions do nothing. */
#ifndef SIM_PEER_H
#define SIM_PEER_H

#include "engine/engine.h"

/* Ends are predicted in whole seconds, rounded up. */
#define PEER_END_GRAIN USEC_PER_SEC

struct peer {
    bool active;
    bool rounds;   /* Gavel's: a round ends early if all that ran in it are done */
    bool every;    /* Muri's: every decision costs those that run */
    bool charges;  /* the policy pays for starts (its dlas-gpu does, its edf not) */
    usec_t *pause; /* by task: what it still owes for its start */
    uint32_t cap;
    usec_t decided_at; /* last decision; negative before the first */
    uint64_t decisions;
};

void peer_init(struct peer *p, enum rules rules, const struct combo *combo);
void peer_done(struct peer *p);

/* Nothing happens before this time: decisions keep their distance, and what
 * falls between them is seen at the later one. */
usec_t peer_hold(const struct peer *p, const struct engine *e, usec_t next);

/* Before a decision: takes what starts cost off the progress. */
int peer_before(struct peer *p, struct engine *e, usec_t now, struct err *err);

/* After a decision: notes what its starts cost; at every 60th all that run are
 * restarted. */
int peer_after(struct peer *p, struct engine *e, usec_t now, struct err *err);

#endif
