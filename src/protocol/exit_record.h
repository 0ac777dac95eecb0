/* exit.json: how a job ended. The conductor's last message has the same content. */
#ifndef PROTOCOL_EXIT_RECORD_H
#define PROTOCOL_EXIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "protocol/usage.h"

/* A record is never larger, because all its texts are bounded. */
#define EXIT_RECORD_MAX_BYTES 8192

enum { EXIT_TEXT_SIZE = 256 };

/* Value of `stop` if the conductor itself was asked to end, for example when the machine shuts
 * down. */
#define EXIT_STOP_TERMINATED "terminated"
/* Its lease ended: the server did not renew it. */
#define EXIT_STOP_LEASE "lease"

struct exit_record {
    int64_t job, attempt; /* 0 = spec.json could not be read */
    usec_t started, at;   /* wall time; started: 0 = never */
    int32_t code;         /* its exit status, 128 + the signal that killed it, or 125 to 127 */
    int32_t signal;
    bool oom, timeout;
    bool untried; /* the conductor could not try to run the command; this is not the job's fault */
    bool no_workdir;             /* not started, because its working directory does not exist */
    char stop[EXIT_TEXT_SIZE];   /* why it was being stopped; empty = it was not */
    char reason[EXIT_TEXT_SIZE]; /* for users; empty = nothing to add to the code */
    char error[EXIT_TEXT_SIZE];  /* the line of its output that says why it failed; empty = none */
    char left_running[EXIT_TEXT_SIZE]; /* processes that it left behind: "sleep (4711)" */
    struct usage usage;
    int64_t log_bytes, log_dropped;
    const char **warnings; /* ends with NULL; NULL = none */
};

extern const struct record record_of_exit;

/* Reserves the disk space of the record, so that it can be written even if the disk is full by
 * then. Returns a descriptor, or -1 on failure. */
int exit_record_reserve(int dir);
/* Writes the record. After it returns 0 the file is complete, even if the process is killed.
 * `fd` comes from exit_record_reserve, or is -1; it is closed on success. The text is one line,
 * a message of the kind `exit`. */
int exit_record_write(int dir, int fd, const char *text, size_t n, struct err *err);
/* Makes the written record survive a power failure. */
int exit_record_sync(int dir, struct err *err);

/* Parses the text of a record into the arena. ERR_INVALID if it is not one. */
int exit_record_parse(const char *text, size_t n, struct arena *a, struct exit_record *out,
                      struct err *err);
/* Reads the file into the arena. ERR_NOT_FOUND if it does not exist, ERR_INVALID if it is not a
 * record. */
int exit_record_read(int dir, struct arena *a, struct exit_record *out, struct err *err);

#endif
