/* What was learnt from finished jobs of a category: the shape of their speed curve, and how good
 * estimates of their ends were. */
#ifndef STORE_CATEGORIES_H
#define STORE_CATEGORIES_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

struct category_row {
    const char *name;
    usec_t at;                    /* wall clock of the last change */
    uint32_t jobs;                /* whose curves were measured */
    double fixed, parallel, comm; /* model/speed_fit.h, of one unit = 1; NAN = not known */
    uint32_t estimates, inside;   /* ends that were estimated; those of them inside the band */
    double error, bias;           /* model/estimate.h */
};

/* Adds or replaces the category. */
int store_category_save(struct store *s, const struct category_row *row, struct err *err);
/* Returns 1 and sets all but the name; 0 if there is none; -1 on an error. */
int store_category_get(struct store *s, const char *name, struct category_row *out,
                       struct err *err);

#endif
