/* Profile directories of Pollux and Sia: per application the step times at
 * placements and local batch sizes, and the iterations to the end of training
 * per global batch size.
 *
 * The model: the global batch size stays what the job asked for, n replicas
 * get ceil(batch / n) samples each, and replicas fill nodes one after the
 * other. A local batch that is larger than measured is accumulated over
 * several passes, one that is smaller does not run. Batch sizes between two
 * measured ones, and sizes between two measured placements, are interpolated
 * linearly. */
#ifndef SIM_TRACE_POLLUX_H
#define SIM_TRACE_POLLUX_H

#include "base/err.h"
#include "base/mem.h"
#include "sim/trace/profiles.h"

/* Iterations a second on 1..n replicas. `type` picks placements-TYPE.csv;
 * without such files, or with an empty type, placements.csv is read. */
int pollux_rates(const char *directory, const char *application, const char *type,
                 const char *batch, struct arena *a, struct rates *out, struct err *err);

/* Iterations until the last measured epoch at this global batch size. */
int pollux_steps(const char *directory, const char *application, const char *batch, double *out,
                 struct err *err);

#endif
