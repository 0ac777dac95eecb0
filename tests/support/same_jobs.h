/* Whether two traces hold the same jobs, to the last bit. */
#ifndef SUPPORT_SAME_JOBS_H
#define SUPPORT_SAME_JOBS_H

#include "sim/trace/trace.h"

/* Fails the test with the first difference. Costs are compared too. */
void assert_same_jobs(const struct trace *a, const struct trace *b);

#endif
