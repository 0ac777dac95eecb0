/* Comma-separated text (RFC 4180), one record at a time. Fields are slices of
 * the text itself, cut and unquoted in place, so nothing is allocated per
 * field. Quotes, CRLF and a byte order mark are understood, blanks around an
 * unquoted field are not part of it, and a NUL byte is an error. */
#ifndef SIM_TRACE_CSV_H
#define SIM_TRACE_CSV_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct csv_field {
    char *at; /* NUL-terminated; valid until csv_done */
    size_t n;
    uint32_t line, column; /* where it begins, from 1; columns are bytes */
    bool quoted;
};

struct csv {
    char name[104]; /* of the file, for messages */
    char *text, *at, *end, *line_start;
    uint32_t line;                /* of `at` */
    VEC(struct csv_field) fields; /* of the current record */
};

/* Reads a whole file. On failure there is nothing to csv_done. */
int csv_open(struct csv *c, const char *path, struct err *err);
/* The same for a text in memory, which is copied. */
int csv_from_text(struct csv *c, const char *name, const char *text, size_t n, struct err *err);
void csv_done(struct csv *c);

/* Reads the next record: 1, or 0 at the end, or -1. Blank lines are accepted
 * at the end only. */
int csv_next(struct csv *c, struct err *err);

/* At most this many records follow: the number of line ends left, plus one. */
size_t csv_records_left(const struct csv *c);

/* "NAME:LINE:COLUMN: text" with the place of a field of the current record;
 * a field past the last one means the end of the record. Returns -1. */
int csv_fail(const struct csv *c, size_t field, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Text from a file as it may appear in a message: cut to `size` - 1 bytes and
 * without control characters. Returns buf. */
char *csv_show(const char *text, char *buf, size_t size);

#endif
