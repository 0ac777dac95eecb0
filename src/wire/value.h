/* The spelling of a field's single values: text in, a number out. Outputs stay
 * untouched on failure; an error says what was found and what was expected. */
#ifndef WIRE_VALUE_H
#define WIRE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

/* "2" is both; "1-4". Both within [lo, hi], and multiplied by `scale`. */
int value_span(const char *text, double lo, double hi, double scale, int64_t *min, int64_t *max,
               struct err *err);

/* "512m", "4g", "4GiB", "65536" (MB): megabytes, rounded up. */
int value_memory(const char *text, int64_t *mb, struct err *err);

/* A duration like 90s or 2h30m of [lo, hi] seconds. */
int value_duration(const char *text, double lo, double hi, usec_t *out, struct err *err);

/* Seconds since 1970, or 2030-01-31[T18:00[:00]][Z|+02:00]: local time where no
 * zone is given. From 1970 to 2200. */
int value_when(const char *text, usec_t *out, struct err *err);

/* true, yes, on, 1 and their contraries, in any case. */
int value_flag(const char *text, bool *out, struct err *err);

/* The index of `text` among "first|second|third". */
int value_choice(const char *choices, const char *text, unsigned *out, struct err *err);
/* The word of this index, in `buf`. */
const char *value_choice_name(const char *choices, unsigned index, char *buf, size_t size);

/* "TERM", "SIGUSR1", "10", in any case. */
int value_signal(const char *text, int *number, struct err *err);
/* "TERM" or, where a signal has no name here, its number; in `buf`. */
const char *value_signal_name(int number, char *buf, size_t size);

/* `text` fit for an error: at most 40 bytes, controls and bytes that are not
 * UTF-8 as question marks. */
enum { VALUE_SHOWN = 44 };
const char *value_show(const char *text, char buf[VALUE_SHOWN]);

#endif
