/* Arrays that are being accepted, some members in each turn. */
#ifndef STORE_ARRIVALS_H
#define STORE_ARRIVALS_H

#include <stdint.h>

#include "base/err.h"

struct store;

struct arrival_row {
    int64_t request;
    int64_t first;    /* id of its first job; the others follow */
    uint32_t arrived; /* members that have a job */
    uint32_t members; /* the ids of all of them are reserved */
};

/* Adds or replaces the row of the request. */
int store_arrival_save(struct store *s, const struct arrival_row *row, struct err *err);
/* All members have arrived. */
int store_arrival_remove(struct store *s, int64_t request, struct err *err);
typedef int (*store_arrival_fn)(void *ctx, const struct arrival_row *row, struct err *err);
/* Lists them in the order in which they were submitted. */
int store_arrival_list(struct store *s, store_arrival_fn fn, void *ctx, struct err *err);

#endif
