/* A sweep: parameters and their values, as in lr=0.1,0.01 and bs=32..256:x2. Its combinations
 * are numbered from 0, the last parameter changing fastest; each becomes a member of an array,
 * in whose command {lr} and {bs} stand for its values. */
#ifndef WIRE_SWEEP_H
#define WIRE_SWEEP_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "wire/spec.h"

/* Checks the parameters, each NAME=VALUES, and counts the combinations: at least 1, at most
 * INDICES_MAX. VALUES is a list, A,B,C, or a range, LOW..HIGH, with :N or :+N for its step, or
 * :xN for its factor. */
int sweep_count(const struct spec_list *sweep, uint32_t *n, struct err *err);

/* The rest is about a sweep that was checked, and combination k of it. */

/* Value of parameter number p, appended to *out. */
void sweep_value(const struct spec_list *sweep, uint32_t p, uint32_t k, struct str *out);
/* Appends the text, with each {NAME} replaced by its value; other braces stay. */
void sweep_fill(const struct spec_list *sweep, uint32_t k, const char *text, struct str *out);
/* The same for each word of a list; the new ones are in the arena. */
struct spec_list sweep_fill_list(const struct spec_list *sweep, uint32_t k,
                                 const struct spec_list *list, struct arena *a);
/* Whether the text has {NAME} of parameter number p. */
bool sweep_uses(const struct spec_list *sweep, uint32_t p, const char *text);

#endif
