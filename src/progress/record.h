/* Records of the binary logs: frames of TensorBoard's event files and of W&B's store,
 * and what the messages in them say. */
#ifndef PROGRESS_RECORD_H
#define PROGRESS_RECORD_H

#include "progress/log.h"
#include "progress/sighting.h"

/* Longer records, images and histograms, are skipped. */
#define PROGRESS_RECORD_BYTES 16384

struct progress_record {
    uint64_t offset;  /* in the file */
    uint64_t left;    /* bytes of the payload that are still to come */
    unsigned trailer; /* bytes after it to skip */
    unsigned head;    /* bytes of the frame's head so far */
    uint8_t type;     /* of a part of a W&B record */
    bool broken;      /* the file is not of this format */
    bool too_long;
    size_t n; /* bytes of the payload */
    unsigned char frame[12];
    unsigned char payload[PROGRESS_RECORD_BYTES];
};

/* The next bytes of a file; `eval` when its path says that it is an evaluation's. */
void progress_record_read_events(struct progress_record *r, const char *bytes, size_t n, bool eval,
                                 progress_sighting_fn fn, void *ctx);
void progress_record_read_wandb(struct progress_record *r, const char *bytes, size_t n,
                                progress_sighting_fn fn, void *ctx);

#endif
