/* Tables: a line of column names, then rows. */
#ifndef PROGRESS_TABLE_H
#define PROGRESS_TABLE_H

#include "progress/sighting.h"

#define PROGRESS_COLUMNS 16
struct progress_table {
    uint8_t n;       /* columns; 0 = no table yet */
    bool ready;      /* its names are those of a training */
    bool statistics; /* avg, std, min ... instead of a loss */
    uint8_t yolo;    /* the losses of a row are parts, to be added up */
    uint32_t key;    /* of its names */
    struct progress_name column[PROGRESS_COLUMNS];
};

/* Takes the names when the line has them: true. */
bool progress_table_head(struct progress_table *t, const char *text, size_t n);
/* Whether the line is a row of the table; then *s has what it says. */
bool progress_table_row(const struct progress_table *t, const struct progress_line *line,
                        struct sighting *s);

#endif
