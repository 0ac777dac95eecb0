/* Lines that open an epoch, "Epoch 3/10", and the bars below them. */
#ifndef PROGRESS_HEADER_H
#define PROGRESS_HEADER_H

#include "progress/sighting.h"

/* The epoch that a line of its own has opened: the bars below it belong there. */
struct progress_header {
    bool open;
    bool taken; /* a bar was found below it */
    bool from_zero;
    bool again; /* the same epoch was opened once more, after its bar had ended */
    double epoch;
    int64_t epochs;
    uint32_t key; /* of that bar */
    int64_t at, of;
};

/* The line that was seen opens an epoch. */
void progress_header_open(struct progress_header *h, const struct sighting *s);

/* Another bar than the training's below the open epoch: an evaluation's. */
bool progress_header_is_foreign(const struct progress_header *h, const struct sighting *s);

/* Puts a place below the open epoch. */
void progress_header_adopt(struct progress_header *h, struct sighting *s);

#endif
