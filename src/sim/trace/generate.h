/* Traces that are generated. */
#ifndef SIM_TRACE_GENERATE_H
#define SIM_TRACE_GENERATE_H

#include "sim/trace/trace.h"

/* Generates jobs from a spec like "poisson:jobs=1000,load=0.9,kind=malleable";
 * see docs/traces.md. The cluster gives the scale of the load factor. */
int trace_generate(const char *spec, uint64_t seed, const struct trace_options *options,
                   struct trace *out, struct err *err);

#endif
