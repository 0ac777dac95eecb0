/* The spelling of Slurm's values. */
#ifndef WIRE_SLURM_VALUES_H
#define WIRE_SLURM_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

/* "90" (minutes), "90:00", "1:30:00", "1-12", "1-12:30", "1-12:30:00", "UNLIMITED":
 * 0 is no limit. */
int slurm_parse_time(const char *text, usec_t *out, struct err *err);

/* "2", "a100:2", "a100": the type, "" for any, and how many. */
int slurm_parse_gpus(const char *text, char *type, size_t size, int64_t *n, struct err *err);

#endif
