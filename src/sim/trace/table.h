/* A CSV file with a header: columns by name in any order, typed fields, and
 * messages that say "FILE:LINE:COLUMN: name 'what was found': what was
 * expected". Traces, profiles and node files are all read through it. */
#ifndef SIM_TRACE_TABLE_H
#define SIM_TRACE_TABLE_H

#include <stdbool.h>

#include "base/time.h"
#include "model/speed.h"
#include "sim/trace/csv.h"

enum { COLUMNS_MAX = 32 };

/* A list of these ends with a NULL name; a column is known by its index. An
 * empty name keeps an index free: no header has it. */
struct column {
    const char *name;
    bool required;
};

struct table {
    struct csv csv;
    const struct column *columns;
    int field[COLUMNS_MAX]; /* by column: its field in a record, -1 = not in the header */
    size_t width;           /* fields of the header */
};

/* Read the file or text up to its header, which then is the current record.
 * On failure there is nothing to table_done. */
int table_open(struct table *t, const char *path, struct err *err);
int table_from_text(struct table *t, const char *name, const char *text, size_t n, struct err *err);
void table_done(struct table *t);

/* While the header is the current record: */
/* Whether it has every required column; `known`, when not NULL, gets the
 * number of its names that are among the columns. */
bool table_fits(const struct table *t, const struct column *columns, size_t *known);
/* Binds the columns. A name that is unknown or there twice, or a required one
 * that is missing, is an error; `what` names the format. */
int table_bind(struct table *t, const struct column *columns, const char *what, struct err *err);

/* The next record: 1, or 0 at the end, or -1, also when it has more or fewer
 * fields than the header. */
int table_next(struct table *t, struct err *err);

/* Opens a file, binds the columns and calls row() for every record until it
 * fails. */
int table_each(const char *path, const struct column *columns, const char *what,
               int (*row)(const struct table *t, void *ctx, struct err *err), void *ctx,
               struct err *err);

/* Whether the record has anything in this column. */
bool table_has(const struct table *t, int column);
/* The field's text, "" when the column is not there. */
const char *table_text(const struct table *t, int column);
/* "FILE:LINE:COLUMN: name 'text': ..."; returns -1. */
int table_fail(const struct table *t, int column, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts "FILE:LINE:COLUMN: name 'text': " in front of what *err says; returns -1. */
int table_prefix(const struct table *t, int column, struct err *err);

/* Typed fields; what is not of the type or out of range is an error. */
int table_int(const struct table *t, int column, int64_t lo, int64_t hi, int64_t *out,
              struct err *err);
int table_double(const struct table *t, int column, double lo, double hi, double *out,
                 struct err *err);
/* Seconds, or a duration like 2h30m; never negative. Exact to the microsecond. */
int table_time(const struct table *t, int column, usec_t *out, struct err *err);
/* The same in microseconds with their fraction, where "us" is the unit. */
int table_work(const struct table *t, int column, double *out, struct err *err);
/* Units in thousandths, at least lo. */
int table_units(const struct table *t, int column, units_t lo, units_t *out, struct err *err);
/* Index into "first|second|third". */
int table_choice(const struct table *t, int column, const char *choices, int *out, struct err *err);

/* "64g", "512m", "65536" (MB): megabytes. */
int memory_parse(const char *text, int64_t *mb, struct err *err);

#endif
