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

/* Whether there is a page; without one, only the real function is called. */
bool target_is_set(void);

/* The number of threads to request from the runtime if the program requests `asked` (0 = the
 * maximum). Counts the region. */
unsigned target_region(struct module *m, unsigned asked);

/* The result of omp_get_max_threads where the runtime would return `max`. */
int target_max(struct module *m, int max);

/* Whether the caller's omp_set_num_threads only repeats what target_max told it. Then it is not
 * the program's choice, and obeying it would prevent growing again. */
bool target_is_echo(const struct module *m, int threads);

/* The number of processors that the program sees from start to end: its job's largest size. 0 =
 * unknown. */
unsigned target_processors(void);

/* Records that the process has software that cannot cope with fewer CPUs. */
void target_misfit(enum page_misfit what);

/* The newest order; 0 if there is no page. */
uint64_t target_order(void);

/* Records that an order is obeyed from now on, by regions of this many threads. */
void target_obey(uint64_t order, uint32_t threads);

/* CLOCK_MONOTONIC, and a record that the time since `began` was spent in the library. */
int64_t target_now(void);
void target_spend(int64_t began);

#endif
