/* A table: rows of text in aligned columns that fit a width. Pure. */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/colour.h"

struct grid_column {
    const char *head;
    bool right; /* numbers: aligned to the right */
    /* Width that it may shrink to when the line is too long; 0 = it does not shrink. */
    unsigned shrinks_to;
    /* If that is not enough, the column with the highest number is left out; 0 = never. */
    unsigned spare;
};

struct grid_cell {
    char *text;
    enum colour colour;
};

struct grid {
    struct grid_column *columns;
    size_t n;                    /* columns */
    VEC(struct grid_cell) cells; /* row by row */
};

/* Copies `columns`. */
void grid_init(struct grid *t, const struct grid_column *columns, size_t n);
void grid_done(struct grid *t);

/* Adds the next cell. The text is made safe for a terminal (screen_text.h). */
void grid_add(struct grid *t, enum colour colour, const char *text);
void grid_addf(struct grid *t, enum colour colour, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct grid_look {
    size_t width; /* of the terminal; 0 = unlimited */
    bool colours;
    /* The row that is shown in reverse, also without colours; counted from 1, 0 = none. */
    size_t marked;
    size_t first, rows; /* the part that is shown; 0 rows = all */
};

/* Appends the heads and the rows, each with a line end. */
void grid_draw(const struct grid *t, const struct grid_look *look, struct str *out);

#endif
