/* Which CPUs a job gets: whole ones for itself, near each other; fractions of one
 * together with fractions of other jobs. Pure: it only counts what is given away. */
#ifndef RUNTIME_LOCAL_CPUS_H
#define RUNTIME_LOCAL_CPUS_H

#include "base/mem.h"
#include "model/speed.h"
#include "runtime/local/topology.h"

/* What is given away of one machine. */
struct cpus {
    const struct topology *topology;
    uint32_t *load; /* by index: thousandths given away; more than UNIT = overcommitted */
};

struct cpus_share {
    uint32_t cpu; /* index */
    uint32_t units;
};

/* What one job has; {0} is nothing. */
struct cpus_grant {
    VEC(struct cpus_share) share;
};

/* The topology is borrowed. */
void cpus_init(struct cpus *c, const struct topology *t);
void cpus_done(struct cpus *c);

/* Changes the grant to `want` thousandths (at most the whole machine). It keeps
 * what it can, grows next to what it has and gives back the farthest. It always
 * succeeds: with nothing free it goes where the least is given away, and leaves
 * from there at a later call when something is. Calling it twice changes nothing. */
void cpus_give(struct cpus *c, struct cpus_grant *g, units_t want);

/* Enters what a job is known to have already. */
void cpus_claim(struct cpus *c, struct cpus_grant *g, const struct cpuset *set, units_t have);

/* Gives all back. */
void cpus_take(struct cpus *c, struct cpus_grant *g);

/* By the kernel's numbers. */
struct cpuset cpus_set(const struct cpus *c, const struct cpus_grant *g);
/* All CPUs of the machine. */
struct cpuset cpus_all(const struct cpus *c);

#endif
