/* exit.json: how a job ended. The last message of a conductor says the same. */
#ifndef PROTOCOL_EXIT_RECORD_H
#define PROTOCOL_EXIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "protocol/usage.h"

/* A record is never larger: all its texts are bounded. */
#define EXIT_RECORD_MAX_BYTES 8192

enum { EXIT_TEXT_SIZE = 256 };

/* `stop` when the conductor itself was asked to end, as at a shutdown of the machine. */
#define EXIT_STOP_TERMINATED "terminated"

struct exit_record {
    int64_t job, attempt; /* 0 = spec.json could not be read */
    usec_t started, at;   /* wall time; started: 0 = never */
    int32_t code;         /* its exit status, 128 + the signal that killed it, or 125 to 127 */
    int32_t signal;
    bool oom, timeout;
    bool untried;    /* the conductor could not even try the command: that is not the job's fault */
    bool no_workdir; /* it was not started: its working directory does not exist */
    char stop[EXIT_TEXT_SIZE];   /* the reason of the stop that was going on; empty = none */
    char reason[EXIT_TEXT_SIZE]; /* for people; empty = it just ended */
    char error[EXIT_TEXT_SIZE];  /* the line of its output that tells why it failed; empty = none */
    char left_running[EXIT_TEXT_SIZE]; /* processes that it left behind: "sleep (4711)" */
    struct usage usage;
    int64_t log_bytes, log_dropped;
    const char **warnings; /* ends with NULL; NULL = none */
};

extern const struct record record_of_exit;

/* Takes the room that the record will need, so that a disk that is full by then does not
 * matter. Returns a descriptor, or -1 when it cannot. */
int exit_record_reserve(int dir);
/* Writes the record: when it returns 0 the file is there, complete, whoever dies. `fd` is
 * what exit_record_reserve gave, -1 to try without; it is closed when it succeeds. The text
 * is one line, a message of the kind `exit`. */
int exit_record_write(int dir, int fd, const char *text, size_t n, struct err *err);
/* Makes the record that was written survive a power failure. */
int exit_record_sync(int dir, struct err *err);

/* Reads the text of a record, texts into the arena. ERR_INVALID when it is not one. */
int exit_record_parse(const char *text, size_t n, struct arena *a, struct exit_record *out,
                      struct err *err);
/* Reads the file, texts into the arena. ERR_NOT_FOUND when there is none, ERR_INVALID when it is
 * not a record. */
int exit_record_read(int dir, struct arena *a, struct exit_record *out, struct err *err);

#endif
