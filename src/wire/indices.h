/* Indices of an array job: "0-9", "1,3,5", "0-99:10", and with "%4" behind, how
 * many of its jobs may run at once. */
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

/* No index comes twice. */
int indices_parse(const char *text, struct arena *a, struct indices *out, struct err *err);

/* As text that parses to the same. */
void indices_format(const struct indices *x, struct str *out);

/* How many jobs it stands for. */
uint32_t indices_count(const struct indices *x);

#endif
