/* Reading the log of a job, once or as it grows, from one attempt to the next and
 * over restarts of the server. */
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
    int64_t attempt; /* 0 = the newest */
    int64_t tail;    /* lines to begin with; -1 = all */
    bool follow;     /* until the job is over */
    bool terminal;   /* filter what is shown */
    /* owned: */
    struct log_place place;
    int64_t got;  /* bytes since that place */
    bool reached; /* the server has answered */
    bool placed;  /* bytes have come, so that the place is known */
    struct log_filter filter;
};

/* Prints the log to stdout. Returns 0 at its end, when it follows that of the job;
 * -1 when it fails, or ERR_IO when the link's `stop` ended it: then another call goes
 * on where this one was. */
int log_reader_run(struct log_reader *r, struct err *err);

/* Where `bytes` behind *place are, given the job with its attempts: what is beyond
 * the end of one attempt's log is in the next one's. Pure. */
void log_place_advance(const json_t *job, int64_t bytes, struct log_place *place);

#endif
