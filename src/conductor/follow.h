/* Follows the progress of a job, in its output and in the file that $TRAINYARD_PROGRESS names.
 * Sends at most ten reports per second. A newer report replaces an older one, and the last one is
 * always sent.
 *
 * A flood of output is not parsed completely, because that would slow the job down: while the
 * job waits for us, 512 KiB are parsed, and after that only the last lines before a pause. */
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
    int file;               /* -1 = does not exist yet, or cannot be read */
    int64_t offset;         /* bytes read so far */
    bool news;              /* there is something to report */
    usec_t reported;        /* time of the last report, steady clock */
    usec_t settle;          /* when to parse `tail`, if no output comes until then */
    int64_t allowed;        /* bytes of output that may be parsed */
    usec_t filled;          /* time of the last change of `allowed` */
    size_t kept;            /* bytes of `tail` */
    char tail[FOLLOW_TAIL]; /* the end of the output that was not parsed */
};

/* The job creates the file `progress` in the directory when it has something to report. An
 * invalid pattern is noted, and the built-in forms are used instead. */
void follow_init(struct follow *f, int dir, const struct progress_config *config,
                 struct notes *notes);
void follow_done(struct follow *f);

/* Output of the job. `behind`: the job writes faster than we read. */
void follow_output(struct follow *f, usec_t now, const char *bytes, size_t n, bool behind);
/* The file may have appeared or grown. */
void follow_file(struct follow *f);

/* Whether the job polls for checkpoint requests. */
bool follow_saves(const struct follow *f);

/* When to call follow_take; USEC_NEVER = not before something else happens. */
usec_t follow_next(const struct follow *f);
/* Fills in the report if one is due, without number and time. At the end of the job any unsent
 * report is due. */
bool follow_take(struct follow *f, usec_t now, bool end, struct progress_message *out);

/* The known progress of a job, as a message. */
void follow_report(const struct progress *p, struct progress_message *out);

#endif
