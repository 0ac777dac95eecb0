/* What the server does not know yet. It is not a queue but a set of facts, each with its
 * newest value, so it cannot grow, however long the server is away or does not read.
 * After a new connection, everything that matters is sent again. */
#ifndef CONDUCTOR_OUTBOX_H
#define CONDUCTOR_OUTBOX_H

#include <stdbool.h>

#include <sys/types.h>

#include "conductor/notes.h"
#include "conductor/series.h"
#include "protocol/launch_spec.h"
#include "protocol/to_server.h"

/* Answers to commands; the conductor reads no further command while it has no
 * room for another answer. Some come later than their commands: those that were
 * obeyed before find room in the reserve. */
enum { OUTBOX_ANSWERS = 16, OUTBOX_RESERVE = 4 };

struct outbox {
    const struct launch_spec *spec;
    const struct notes *notes;
    pid_t pid, leader; /* leader 0 = not started */
    usec_t started;
    struct restarted_message restarted; /* the newest start for another size */
    struct series progress;
    struct usage_message usage; /* the newest */
    const char *exit;           /* the line; NULL = still running. Borrowed. */

    /* What this connection has still to carry. */
    bool hello, welcomed;
    bool say_started, say_restarted, say_usage, say_exit;
    bool said_exit;  /* on this connection, although it was not welcome yet */
    size_t warnings; /* said so far */
    struct str answers[OUTBOX_ANSWERS + OUTBOX_RESERVE];
    size_t n_answers;
};

void outbox_init(struct outbox *o, const struct launch_spec *spec, const struct notes *notes,
                 pid_t pid);
void outbox_done(struct outbox *o);

/* A new connection: begins with the hello. Answers to the old one are dropped. */
void outbox_connected(struct outbox *o);
/* The server, of this version, knows us: everything else follows. See series_rewind for
 * `known`. */
void outbox_welcomed(struct outbox *o, int32_t version, int64_t known);

void outbox_started(struct outbox *o, pid_t leader, usec_t at);
/* Said once, on this connection or, when there is none, on the next. */
void outbox_restarted(struct outbox *o, const struct restarted_message *m);
void outbox_progress(struct outbox *o, const struct progress_message *m);
void outbox_usage(struct outbox *o, usec_t at, const struct usage *u, bool saves);
void outbox_exit(struct outbox *o, const char *line);

/* Adds an answer to a command. */
void outbox_answer(struct outbox *o, const struct to_server *m);
bool outbox_has_room(const struct outbox *o);

/* Writes the next message; false when there is nothing to say. */
bool outbox_next(struct outbox *o, struct str *out);

#endif
