/* Traces as files. */
#ifndef SIM_TRACE_WRITE_H
#define SIM_TRACE_WRITE_H

#include "sim/trace/trace.h"

/* Writes jobs in our own CSV, which trace_read reads back the same for the
 * same cluster. Costs are left out when no job has any. */
int trace_write(const struct trace *t, const char *path, struct err *err);

#endif
