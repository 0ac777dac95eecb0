/* What was observed of a job: samples of its metric and its usage, thinned out as their
 * number grows, so that both the first minute and a week of training fit. */
#ifndef MODEL_HISTORY_H
#define MODEL_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct sample {
    usec_t at;
    double step;      /* steps or share of work done */
    double metric;    /* the loss or other evaluation; NAN = none */
    usec_t metric_at; /* when the job reported it; 0 = at `at` */
    double units;     /* held */
    double cpu_time;  /* CPU-unit microseconds used since the start */
    double memory_mb;
    double block_bytes, net_bytes; /* read and written since the start */
};

/* The resources whose use growth efficiency is a return on. */
enum growth_resource { GROWTH_CPU, GROWTH_MEMORY, GROWTH_BLOCK, GROWTH_NETWORK, GROWTH_RESOURCES };

/* A measurement of growth efficiency: the metric's change as a share of its first value, per second
 * and per share of the node's resource. NAN = none of the resource was used, or it is not known. */
struct growth_point {
    usec_t span; /* that it was measured over */
    double by[GROWTH_RESOURCES];
};

enum { HISTORY_CAP = 256 };

struct history {
    uint32_t n, stride, skipped; /* every stride-th sample is kept */
    struct sample first;         /* with a metric; until then its metric is NAN */
    struct sample last;          /* the newest, kept or not */
    struct sample mark; /* where the next measurement of growth begins; its metric may be NAN */
    struct growth_point growth; /* the last measurement; span 0 = none */
    struct sample at[HISTORY_CAP];
};

void history_init(struct history *h);
/* Samples must come in the order of time; one that does not is dropped. */
void history_add(struct history *h, const struct sample *s);
/* The mean number of CPUs used over the last `window` of the samples, or since the first one that
 * is kept; NAN if two samples are not there yet, or the job was started again between them. */
double history_cpus(const struct history *h, usec_t window);
/* The newest sample that is not after `at`; NULL when there is none. */
const struct sample *history_before(const struct history *h, usec_t at);

#endif
