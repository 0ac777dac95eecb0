/* Parsing of single values. Outputs stay untouched on failure; an error says what was found and
 * what was expected. */
#ifndef WIRE_VALUE_H
#define WIRE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "model/plateau.h"

/* "1-4", or "2" for both ends. Both must be within [lo, hi]; they are multiplied by `scale`. */
int value_span(const char *text, double lo, double hi, double scale, int64_t *min, int64_t *max,
               struct err *err);

/* "512m", "4g", "4GiB", "65536" (MB): megabytes, rounded up. */
int value_memory(const char *text, int64_t *mb, struct err *err);

/* A duration such as 90s or 2h30m, within [lo, hi] seconds. */
int value_duration(const char *text, double lo, double hi, usec_t *out, struct err *err);
/* The same, or "none": USEC_NEVER. */
int value_lease(const char *text, double lo, double hi, usec_t *out, struct err *err);

/* Seconds since 1970, or 2030-01-31[T18:00[:00]][Z|+02:00], in local time when no zone is
 * given. From 1970 to 2200. */
int value_when(const char *text, usec_t *out, struct err *err);

/* PART%/WINDOW, where the window is a duration or a number of steps: "5%/10min", "1%/500steps". */
int value_flatness(const char *text, struct flatness *out, struct err *err);
/* Text that parses to the same, in `buf`. */
enum { VALUE_FLATNESS = 64 };
const char *value_flatness_text(const struct flatness *f, char buf[VALUE_FLATNESS]);

/* true, yes, on, 1 or false, no, off, 0, in any case. */
int value_flag(const char *text, bool *out, struct err *err);

/* The index of `text` among "first|second|third". */
int value_choice(const char *choices, const char *text, unsigned *out, struct err *err);
/* The word of this index, in `buf`. */
const char *value_choice_name(const char *choices, unsigned index, char *buf, size_t size);

/* "TERM", "SIGUSR1", "10", in any case. */
int value_signal(const char *text, int *number, struct err *err);
/* "TERM", or the number of a signal without a known name; in `buf`. */
const char *value_signal_name(int number, char *buf, size_t size);

/* `text` as an error can show it: at most 40 bytes, with question marks for control characters
 * and bytes that are not UTF-8. */
enum { VALUE_SHOWN = 44 };
const char *value_show(const char *text, char buf[VALUE_SHOWN]);

#endif
