/* The connection to the server. It is made again whenever it is lost, and nothing waits
 * for it. Messages are asked for one at a time, when the socket has room, so no queue
 * builds up for a server that does not read. */
#ifndef CONDUCTOR_LINK_H
#define CONDUCTOR_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "conductor/loop.h"
#include "protocol/lines.h"

struct link_user {
    /* A connection was made: the first message is the hello. */
    void (*connected)(void *ctx);
    /* It was lost. */
    void (*lost)(void *ctx);
    /* Writes the next message with its newline; false when there is none. */
    bool (*next)(void *ctx, struct str *out);
    /* A line came, without its newline. False: it is garbage, the connection is
     * dropped. */
    bool (*line)(void *ctx, const char *line, size_t n);
    /* Whether another line can be taken now. */
    bool (*has_room)(void *ctx);
};

struct link {
    struct loop *loop;
    unsigned timer; /* of the loop, for the next try */
    const char *path;
    const struct link_user *user;
    void *ctx;
    struct loop_watch watch; /* fd -1 = not connected */
    struct lines in;
    struct str out;
    size_t sent; /* of `out` */
    usec_t delay;
    uint64_t socket; /* which one was connected to last, see name_socket */
    bool dropped;    /* the line handler wants the connection gone */
    bool stopped;    /* it wants no more lines */
};

void link_init(struct link *l, struct loop *loop, unsigned timer, const char *path,
               const struct link_user *user, void *ctx);
void link_done(struct link *l);

/* A connection that outlives the attempt, with the bytes that came after its last line. */
struct link_kept {
    int fd; /* -1 = none */
    struct lines in;
};
/* Takes the connection out of the link, which then has none. */
struct link_kept link_release(struct link *l);
/* Goes on with a connection that was kept: it is as if it had just been made. */
void link_resume(struct link *l, struct link_kept *kept);

bool link_is_up(const struct link *l);
/* Tries to connect now if it is not connected: when the timer fires, when the
 * socket has appeared. One that has appeared since the last connection was made, as
 * nobody watched for it, is tried when that is lost. */
void link_try(struct link *l);
/* Handles the lines that came and says what there is to say; to be called after
 * each turn of the loop, and by no callback of the user. */
void link_flush(struct link *l);
/* The server has accepted us: the next loss is tried again at once. */
void link_welcome(struct link *l);
/* For the line handler: drops the connection, to try again later. */
void link_drop(struct link *l);
/* For the line handler: what follows on the connection is not for this link. */
void link_stop(struct link *l);

#endif
