/* The connection to the server. It is restored whenever it is lost, and nothing waits for it.
 * Messages are requested one at a time, when the socket has room, so no queue builds up for a
 * server that does not read. */
#ifndef CONDUCTOR_LINK_H
#define CONDUCTOR_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "conductor/loop.h"
#include "protocol/lines.h"

struct link_user {
    /* Connected: the first message is the hello. */
    void (*connected)(void *ctx);
    /* Disconnected. */
    void (*lost)(void *ctx);
    /* Writes the next message with its newline; false if there is none. */
    bool (*next)(void *ctx, struct str *out);
    /* Handles a line, without its newline. False if it is garbage: the connection is dropped. */
    bool (*line)(void *ctx, const char *line, size_t n);
    /* Whether another line can be handled now. */
    bool (*has_room)(void *ctx);
};

struct link {
    struct loop *loop;
    unsigned timer; /* of the loop, for the next attempt to connect */
    const char *path;
    const struct link_user *user;
    void *ctx;
    struct loop_watch watch; /* fd -1 = not connected */
    struct lines in;
    struct str out;
    size_t sent; /* bytes of `out` that were sent */
    usec_t delay;
    uint64_t socket; /* the last socket that was connected to, see name_socket */
    bool dropped;    /* the line handler asked to drop the connection */
    bool stopped;    /* the line handler wants no more lines */
};

void link_init(struct link *l, struct loop *loop, unsigned timer, const char *path,
               const struct link_user *user, void *ctx);
void link_done(struct link *l);

/* A connection that outlives its attempt, with the bytes received after its last line. */
struct link_kept {
    int fd; /* -1 = none */
    struct lines in;
};
/* Takes the connection out of the link. */
struct link_kept link_release(struct link *l);
/* Uses a kept connection as if it had just been made. */
void link_resume(struct link *l, struct link_kept *kept);

bool link_is_up(const struct link *l);
/* Connects now, if not connected: when the timer fires or the socket appears. A socket that has
 * appeared since the last connection is tried when that connection is lost. */
void link_try(struct link *l);
/* Handles received lines and sends pending messages. Call it after each turn of the loop, never
 * from a callback. */
void link_flush(struct link *l);
/* The server has accepted us: after the next loss, reconnect at once. */
void link_welcome(struct link *l);
/* For the line handler: drop the connection and retry later. */
void link_drop(struct link *l);
/* For the line handler: the rest of the input is not for this link. */
void link_stop(struct link *l);

#endif
