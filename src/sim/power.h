/* A model of electric power: what nodes take, and what jobs add. */
#ifndef SIM_POWER_H
#define SIM_POWER_H

#include "base/err.h"
#include "sim/result.h"

/* Watts: of a node that does nothing, of each CPU that is busy, of each GPU that is held. */
struct power {
    double idle, cpu, gpu;
};

/* What a server of today takes, roughly; docs/report.md says where the figures come from. */
#define POWER_DEFAULT ((struct power){100, 10, 250})

/* Parses "idle=100,cpu=10,gpu=250"; what is left out is POWER_DEFAULT's, all of it for "default".
 */
int power_parse(const char *text, struct power *out, struct err *err);

/* Fills in the energy of each job, and that of all of them with the idle power of the nodes over
 * the makespan. */
void power_apply(const struct power *p, uint32_t nodes, struct sim_result *r);

#endif
