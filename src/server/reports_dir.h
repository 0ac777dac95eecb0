/* Simulator reports that the server keeps for browsers: files below STATE/reports, which
 * `trainyard sim --report` wrote. An operator may also put them there. */
#ifndef SERVER_REPORTS_DIR_H
#define SERVER_REPORTS_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

/* Most reports that are listed and kept, and bytes of one: what a request may have. */
enum { REPORTS_MAX = 200, REPORT_BYTES_MAX = 8 << 20 };

/* Whether it is a name: letters, digits, '.', '-' and '_', at most 100, not beginning with '.'. */
bool report_name_is(const char *name);

/* Calls fn for each, in no order. */
typedef void (*report_fn)(void *ctx, const char *name, int64_t bytes, usec_t changed);
int reports_list(const char *state_dir, report_fn fn, void *ctx, struct err *err);
/* *bytes is from malloc. */
int report_read(const char *state_dir, const char *name, char **bytes, size_t *n, struct err *err);
/* Replaces one of the same name as a whole. */
int report_write_file(const char *state_dir, const char *name, const char *bytes, size_t n,
                      struct err *err);
int report_remove(const char *state_dir, const char *name, struct err *err);

#endif
