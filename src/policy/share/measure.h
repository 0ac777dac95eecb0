/* The measurement of one job's growth efficiency, and what people are told about it. */
#ifndef POLICY_SHARE_MEASURE_H
#define POLICY_SHARE_MEASURE_H

#include "policy/share/growth.h"

/* The parameters that all sharers by growth have; their own follow from GROWTH_PARAMS on. */
enum { GROWTH_ITVAL, GROWTH_BETA, GROWTH_SCALE, GROWTH_RESOURCE, GROWTH_BANDWIDTH, GROWTH_PARAMS };
/* clang-format off */
#define GROWTH_PARAM_TABLE                                                                         \
    [GROWTH_ITVAL] = {"itval", PARAM_DURATION, "20s", 0.001, 86400, NULL,                          \
                      "time between two measurements"},                                            \
    [GROWTH_BETA] = {"beta", PARAM_NUMBER, "2", 1, 1000, NULL,                                     \
                     "the floor is 1/(beta x jobs on the node)"},                                  \
    [GROWTH_SCALE] = {"growth", PARAM_CHOICE, "first", 0, 0, "first|peak",                         \
                      "growth as a share of the metric's first value, or of the job's own peak"},  \
    [GROWTH_RESOURCE] = {"resource", PARAM_CHOICE, "cpu", 0, 0, "cpu|memory|block|network",        \
                         "the resource whose use growth is measured by"},                          \
    [GROWTH_BANDWIDTH] = {"bandwidth", PARAM_NUMBER, "100", 0.001, 1e6, NULL,                      \
                          "MB/s that count as all of a node's disk or network"}
/* clang-format on */

/* What these parameters say. */
struct growth_how growth_read_params(const struct params *p);

/* Takes a new measurement of the task, on this node, if it has reported a metric since the last
 * one, and says whether it is silent. */
void growth_measure(struct growth *g, const struct snapshot *s, uint32_t node,
                    const struct growth_how *how);

/* For people: "its growth is 34 % of its best", or why it was not measured. */
void growth_say_measure(const struct task *t, const struct growth_how *how, char *out, size_t size);
/* "It is limited to 0.5 of the 2 CPUs ...", or that it is not limited. */
void growth_say_limit(const struct snapshot *s, const struct task *t, char *out, size_t size);

#endif
