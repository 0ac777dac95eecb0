/* The parts of the HTML report's data. The page (src/web/report) reads it;
 * docs/report.md describes it.
 *
 * Times are integers of `tick` microseconds since the first submission. Long
 * lists are thinned out as the bounds below ask, and the data says by how
 * much, so that the page can say so too. */
#ifndef SIM_REPORT_PAGE_PREPARE_H
#define SIM_REPORT_PAGE_PREPARE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/result.h"

enum {
    REPORT_NAMES_MOST = 120000,    /* jobs listed */
    REPORT_ROWS_MOST = 400000,     /* jobs listed times policies */
    REPORT_SEGMENTS_MOST = 120000, /* bars of the Gantt chart, all policies */
    REPORT_POINTS_MOST = 1500,     /* points of one curve */
    REPORT_NODES_MOST = 32,        /* nodes drawn over time */
    REPORT_NODE_POINTS_MOST = 600, /* points of a node's curve */
    REPORT_MOVES_MOST = 2000,      /* moves marked, of each policy */
};

struct report {
    const struct sim_result *r;
    uint32_t n;
    const struct cluster *cluster;
    const char *trace, *nodes;
    usec_t origin;         /* first submission */
    usec_t end;            /* of the last thing that happened under any policy */
    usec_t tick;           /* microseconds */
    bool exact;            /* every time is a multiple of the tick */
    units_t per_unit;      /* divides every number of units */
    uint32_t stride;       /* every stride-th job is listed */
    uint32_t gantt_stride; /* a multiple of it: jobs in the Gantt chart */
};

/* What a segment shows: the units held, or the CPUs that the job got of its
 * node. */
static inline units_t report_units(const struct sim_segment *s)
{
    return llround(s->used);
}

/* A time since the first submission, in ticks. */
static inline int64_t report_ticks(const struct report *p, usec_t t)
{
    return (t - p->origin + p->tick / 2) / p->tick;
}

/* A duration in ticks. */
static inline int64_t report_duration(const struct report *p, usec_t t)
{
    return (t + p->tick / 2) / p->tick;
}

/* Looks through the results for what the fields of *p say. Fails when a segment names a job that is
 * not in the trace. */
int report_prepare(struct report *p, struct err *err);

#endif
