/* Reads the log of a job, once or as it grows, from one attempt to the next and across restarts
 * of the server. */
#ifndef CLI_LOG_READER_H
#define CLI_LOG_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/log_filter.h"
#include "cli/server_link.h"

/* A byte of a log. */
struct log_place {
    int64_t attempt, offset;
};

struct log_reader {
    struct server_link *link;
    const char *job;
    int64_t attempt; /* 0 = the last */
    int64_t tail;    /* start with the last lines; -1 = all */
    bool follow;     /* until the job is over */
    bool terminal;   /* filter what is shown */
    /* owned: */
    struct log_place place;
    int64_t got;  /* bytes since that place */
    bool reached; /* the server has answered */
    bool placed;  /* bytes have come, so the place is known */
    bool screen;  /* the bytes are those of a screen, not of the log */
    struct log_filter filter;
};

/* Prints the log to stdout. Returns 0 at its end, which is the end of the job when it follows;
 * -1 on failure. After ERR_IO because of the link's `stop`, another call continues where this
 * one ended. */
int log_reader_run(struct log_reader *r, struct err *err);

/* Moves *place by `bytes`, given the job with its attempts: bytes beyond the end of one
 * attempt's log are in the next one. Pure. */
void log_place_advance(const json_t *job, int64_t bytes, struct log_place *place);

#endif
