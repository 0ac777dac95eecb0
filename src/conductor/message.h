/* The messages between conductor and server: one JSON object a line. */
#ifndef CONDUCTOR_MESSAGE_H
#define CONDUCTOR_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "conductor/jobspec.h"
#include "conductor/notes.h"
#include "conductor/threads.h"
#include "conductor/usage.h"

/* A line is never longer, its newline included. */
#define MESSAGE_MAX_BYTES 65536

enum command_type {
    COMMAND_WELCOME,
    COMMAND_REFUSED,
    COMMAND_ACK,
    COMMAND_SIGNAL,
    COMMAND_STOP,
    COMMAND_FREEZE,
    COMMAND_THAW,
    COMMAND_RESIZE,
    COMMAND_RESTART,
    COMMAND_LIMIT,
    COMMAND_BAD, /* an object, but not a command that can be obeyed; `text` says why */
};

/* What the server says. */
struct command {
    enum command_type type;
    int64_t id;  /* to be answered with; -1 = no answer is wanted */
    int64_t seq; /* welcome: the newest progress that the server has; -1 = it does not say */
    int signal;  /* signal, stop */
    enum reach reach;
    usec_t grace;          /* stop */
    usec_t limit;          /* limit; USEC_NEVER = none */
    double cpus;           /* resize, restart */
    int64_t threads;       /* resize; 0 = not said */
    char cpuset[1024];     /* resize, restart; empty = not said */
    char env[1024];        /* restart: KEY=VALUE lines that replace or add to the job's */
    char text[NOTES_TEXT]; /* stop: reason; refused, bad: why; ack: what */
};

/* Reads one line. Fails when it is no JSON object with a type: a server does not
 * write such. `defaults` has what a stop does when the message does not say. */
int command_parse(const char *line, size_t n, const struct jobspec *defaults, struct command *out,
                  struct err *err);

/* How the job ended. */
struct outcome {
    usec_t at, started; /* wall time; started: 0 = never */
    int code;           /* its exit status, 128 + the signal that killed it, or 125 to 127 */
    int signal;
    bool oom, timeout;
    char stop[NOTES_TEXT];   /* the reason of the stop that was going on; empty = none */
    char reason[NOTES_TEXT]; /* for people; empty = it just ended */
    struct usage usage;
    int64_t log_bytes, log_dropped;
};

/* Each adds one line. */
void message_hello(struct str *out, const struct jobspec *spec, pid_t pid, usec_t started,
                   uint64_t seq);
void message_started(struct str *out, pid_t leader, usec_t at);
/* `body` holds the members that are known, as JSON. */
void message_progress(struct str *out, uint64_t seq, usec_t at, const char *body);
void message_usage(struct str *out, usec_t at, const struct usage *u);
void message_warning(struct str *out, const char *text);
void message_ok(struct str *out, int64_t id);
void message_error(struct str *out, int64_t id, const char *text);
void message_applied(struct str *out, int64_t id, double cpus, int64_t threads);
/* The same for a job that can change its threads: what it did about it. */
void message_obeyed(struct str *out, const struct threads_answer *a);
/* The command runs again, with so many CPUs; it took `pause` from the signal to here. */
void message_restarted(struct str *out, unsigned incarnation, double cpus, usec_t pause);
/* Also the content of exit.json; at most RECORD_MAX_BYTES. */
void message_exit(struct str *out, const struct jobspec *spec, const struct outcome *o,
                  const struct notes *notes);

#endif
