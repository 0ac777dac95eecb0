/* What the server does not know yet. This is a set of facts with their newest values, not a
 * queue, so it cannot grow while the server is away or does not read. After a reconnect,
 * everything that matters is sent again. */
#ifndef CONDUCTOR_OUTBOX_H
#define CONDUCTOR_OUTBOX_H

#include <stdbool.h>

#include <sys/types.h>

#include "conductor/notes.h"
#include "conductor/series.h"
#include "protocol/launch_spec.h"
#include "protocol/to_server.h"

/* Answers to commands. The conductor reads no further command while there is no room for its
 * answer. The reserve is for answers that come later than their commands. */
enum { OUTBOX_ANSWERS = 16, OUTBOX_RESERVE = 4 };

struct outbox {
    const struct launch_spec *spec;
    const struct notes *notes;
    pid_t pid, leader; /* leader 0 = not started */
    usec_t started;
    struct restarted_message restarted; /* the last restart at another size */
    struct series progress;
    struct usage_message usage; /* the newest */
    usec_t lease;               /* time of the newest lease request */
    const char *exit;           /* the encoded message; NULL = the job is running. Borrowed. */

    /* What is still to be sent on this connection. */
    bool hello, welcomed;
    bool say_started, say_restarted, say_usage, say_lease, say_exit;
    bool said_exit;  /* on this connection, before the welcome */
    size_t warnings; /* sent so far */
    struct str answers[OUTBOX_ANSWERS + OUTBOX_RESERVE];
    size_t n_answers;
};

void outbox_init(struct outbox *o, const struct launch_spec *spec, const struct notes *notes,
                 pid_t pid);
void outbox_done(struct outbox *o);

/* A new connection: starts with the hello. Answers for the old one are dropped. */
void outbox_connected(struct outbox *o);
/* The server has welcomed us with this version: the rest follows. See series_rewind for `known`. */
void outbox_welcomed(struct outbox *o, int32_t version, int64_t known);

void outbox_started(struct outbox *o, pid_t leader, usec_t at);
/* Sent once, on this connection or the next one. */
void outbox_restarted(struct outbox *o, const struct restarted_message *m);
void outbox_progress(struct outbox *o, const struct progress_message *m);
void outbox_usage(struct outbox *o, usec_t at, const struct usage *u, bool saves);
/* Asks for the lease, on this connection only. */
void outbox_lease(struct outbox *o, usec_t asked);
void outbox_exit(struct outbox *o, const char *line);

/* Adds an answer to a command. */
void outbox_answer(struct outbox *o, const struct to_server *m);
bool outbox_has_room(const struct outbox *o);

/* Writes the next message; false if there is none. */
bool outbox_next(struct outbox *o, struct str *out);

#endif
