/* How many threads a region gets: the smaller of what the program set and what the
 * conductor ordered, as soon as that is safe. What is safe depends on the caller:
 *
 * plain   omp_get_max_threads says what the program set, as it does under OMP_DYNAMIC; a
 *         region without a count of its own gets as many threads as the newest order
 *         says. So a table with a row for each possible thread is always long enough.
 * BLAS    omp_get_max_threads says what the newest order allows; the region that follows
 *         gets just that, as its parts wait for each other.
 * torch   on the main thread of a Python process: both obey one order, and a new one is
 *         taken up between two instructions of the interpreter, where no operation is
 *         under way (python.c). On other threads: plain.
 *
 * A count of the program's own (num_threads) is never touched: it was planned for. */
#ifndef MALLEABLE_TARGET_H
#define MALLEABLE_TARGET_H

#include "malleable/page.h"
#include "malleable/real.h"

/* Whether there is a page; without one nothing is done but to call the real function. */
bool target_is_set(void);

/* The threads to ask the runtime for, where the program asks for some (0 = as many as
 * there may be). Counts the region. */
unsigned target_region(struct module *m, unsigned asked);

/* What omp_get_max_threads says, where the runtime would say `max`. */
int target_max(struct module *m, int max);

/* Whether the caller's omp_set_num_threads only repeats what target_max told it: then it
 * is no wish of the program, and obeying it would forbid to grow again. */
bool target_is_echo(const struct module *m, int threads);

/* The number of processors that the program is told of, from its start to its end: its job's
 * largest size. 0 = unknown. */
unsigned target_processors(void);

/* Notes that the process has something that does not cope with fewer CPUs. */
void target_misfit(enum page_misfit what);

/* The newest order, 0 when there is no page. */
uint64_t target_order(void);

/* Notes that an order is obeyed from now on, by regions of some threads. */
void target_obey(uint64_t order, uint32_t threads);

/* Time by CLOCK_MONOTONIC, and a note that the time since `began` went to the library. */
int64_t target_now(void);
void target_spend(int64_t began);

#endif
