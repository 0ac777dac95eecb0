/* Follows the progress of a job: in its output, and in the file that $TRAINYARD_PROGRESS
 * names. There are at most ten reports per second; the newest replaces older ones, and
 * the last one is never lost.
 *
 * A flood of output is not read as a whole, so that it does not slow the job down: when the
 * job waits for us, 512 KiB are read, and then only the last lines before a pause. */
#ifndef CONDUCTOR_FOLLOW_H
#define CONDUCTOR_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "conductor/notes.h"
#include "progress/progress.h"
#include "protocol/to_server.h"

enum { FOLLOW_TAIL = 8192 };

struct follow {
    struct progress_reader *reader;
    struct notes *notes;
    int dir;                /* of the attempt; borrowed */
    int file;               /* -1 = not there yet, or cannot be read */
    int64_t offset;         /* read so far */
    bool news;              /* that were not reported */
    usec_t reported;        /* the last time, by the steady clock */
    usec_t settle;          /* when the output will have been silent for a while */
    int64_t allowed;        /* bytes of output that may be read now, */
    usec_t filled;          /* as of this time */
    size_t kept;            /* bytes of `tail` */
    char tail[FOLLOW_TAIL]; /* the end of what was too much to read */
};

/* The file `progress` in the directory is made by the job when it has something to
 * report. A pattern that cannot be used is noted, and the built-in forms are looked for. */
void follow_init(struct follow *f, int dir, const struct progress_config *config,
                 struct notes *notes);
void follow_done(struct follow *f);

/* The job has written this. `behind`: it writes faster than we read. */
void follow_output(struct follow *f, usec_t now, const char *bytes, size_t n, bool behind);
/* The file may have grown, or appeared. */
void follow_file(struct follow *f);

/* Whether the job asks for requests to save a checkpoint. */
bool follow_saves(const struct follow *f);

/* When follow_take is due; USEC_NEVER = not before something else happens. */
usec_t follow_next(const struct follow *f);
/* The report that is due; false when none is. At the end of the job whatever was not
 * reported is due. It has neither number nor time yet. */
bool follow_take(struct follow *f, usec_t now, bool end, struct progress_message *out);

/* What is known of a job's progress, as a message. */
void follow_report(const struct progress *p, struct progress_message *out);

#endif
