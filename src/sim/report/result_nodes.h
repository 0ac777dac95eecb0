/* The nodes of a simulation: a table for people, and a member of the JSON object. */
#ifndef SIM_REPORT_RESULT_NODES_H
#define SIM_REPORT_RESULT_NODES_H

#include <stdio.h>

#include "base/str.h"
#include "sim/result.h"

/* A row for each policy and node. The results must have been recorded. */
void result_node_table(const struct sim_result *r, uint32_t n, const struct cluster *c, FILE *out);

/* ,"nodes":[...],"moves":[...]: figures of each node, its state over time, and the jobs that
 * moved. */
void result_add_nodes(struct str *s, const struct sim_result *r, const struct cluster *c);

#endif
