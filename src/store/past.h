/* What earlier runs of a program were like: one row for each command line. */
#ifndef STORE_PAST_H
#define STORE_PAST_H

#include "base/err.h"
#include "base/time.h"

struct store;

struct past_row {
    const char *category;  /* the user and the program */
    const char *arguments; /* the command as a JSON list */
    usec_t at;             /* wall clock of its end */
    double step;           /* its last step; NAN = it told none */
    double work;           /* as the engine counts it */
};

/* Rows that are kept of a category: the newest. */
enum { STORE_PAST_KEPT = 16 };

/* Takes the place of an earlier row with the same arguments. */
int store_past_save(struct store *s, const struct past_row *row, struct err *err);

typedef int (*store_past_fn)(void *ctx, const struct past_row *row, struct err *err);
/* Newest first; ends when fn returns other than 0. */
int store_past_list(struct store *s, const char *category, store_past_fn fn, void *ctx,
                    struct err *err);

#endif
