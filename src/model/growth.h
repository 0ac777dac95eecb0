/* Growth efficiency: how much a job's metric moves per second and per share of a resource of its
 * node (FlowCon, 4.1 and 4.2). */
#ifndef MODEL_GROWTH_H
#define MODEL_GROWTH_H

#include "model/cluster.h"
#include "model/history.h"

/* Bytes per second that count as all of a node's disk or network, unless somebody says otherwise.
 */
#define GROWTH_LINE_RATE 100e6

/* What the sample has of the resource: an amount used since the start; of memory, what is in use.
 */
double growth_amount(const struct sample *s, enum growth_resource resource);

/* The mean share of the node that was used while the amount went from `was` to `now`, times the
 * seconds that this took. NAN if it is not known; negative if the job was started again.
 * `bandwidth` is the bytes per second that count as all of a node's disk or network. */
double growth_used(enum growth_resource resource, double was, double now, double seconds,
                   const struct node *n, double bandwidth);

/* Measures all resources from the history's mark to its newest sample, which becomes the mark.
 * Returns false if no metric was reported since the mark, or the job was started again. */
bool growth_take(struct history *h, const struct node *n, double bandwidth);

#endif
