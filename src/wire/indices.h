/* Indices of an array job: "0-9", "1,3,5", "0-99:10". With "%4" at the end, at most 4 of its
 * jobs run at once. */
#ifndef WIRE_INDICES_H
#define WIRE_INDICES_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum { INDICES_MAX = 100000 };

/* first, first + step, ... up to last. */
struct indices_range {
    uint32_t first, last, step;
};

struct indices {
    struct indices_range *at;
    uint32_t n;     /* ranges; 0 = not an array */
    uint32_t limit; /* jobs at once; 0 = all */
};

/* Fails when an index is given twice. */
int indices_parse(const char *text, struct arena *a, struct indices *out, struct err *err);

/* Appends text that parses to the same indices. */
void indices_format(const struct indices *x, struct str *out);

/* The number of jobs. */
uint32_t indices_count(const struct indices *x);
/* The index of job number k, which is less than the count; jobs are numbered in the order in
 * which the text gives their indices. */
uint32_t indices_nth(const struct indices *x, uint32_t k);

#endif
