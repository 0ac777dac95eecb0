/* The link to a conductor whose server cannot reach it directly: the engine between them executes
 * the relay next to the conductor, and connects us with its standard streams (protocol/relay.h).
 * How that is done is up to the runtime. A link that is lost is made again with back-off, as
 * long as it is wanted. */
#ifndef RUNTIME_REMOTE_RELAY_LINK_H
#define RUNTIME_REMOTE_RELAY_LINK_H

#include "runtime/runtime.h"

struct relay_talk;

/* What the runtime does. Each is called with the link's `ctx`. */
struct relay_link_ops {
    /* Begins to connect: relay_link_opened() or relay_link_closed() follow, later. */
    void (*connect)(void *ctx);
    /* Writes to the relay's standard input, in order; only between opened and closed. */
    void (*send)(void *ctx, const char *bytes, size_t n);
    /* Ends the connection, or the try to make one, if there is any. */
    void (*hang_up)(void *ctx);
};

struct relay_link {
    const struct relay_link_ops *ops;
    void *ctx;
    struct runtime *runtime;
    struct runtime_host *host;
    struct attempt_id id;
    struct relay_talk *talk; /* NULL = not connected */
    bool connecting;
    usec_t at; /* when to connect, or to give a try up; USEC_NEVER = not */
    usec_t pause;
    int64_t log_offset; /* that the server wants next; -1 = it has not asked */
};

void relay_link_init(struct relay_link *l, const struct relay_link_ops *ops, void *ctx,
                     struct runtime *r, struct runtime_host *h, struct attempt_id id);

/* Wants a link to the conductor from now on. */
void relay_link_want(struct relay_link *l);
/* Ends it and tells the server: the conductor has ended, or does not answer. */
void relay_link_drop(struct relay_link *l);
/* Ends it without a word, because the server does not want it any more. */
void relay_link_end(struct relay_link *l);
/* Engine time at which to call relay_link_turn(). */
usec_t relay_link_due(const struct relay_link *l);
void relay_link_turn(struct relay_link *l);

/* For the runtime: the connection is there; bytes have come; it has ended, or could not be made.
 * With `again` another one is tried later. */
void relay_link_opened(struct relay_link *l);
void relay_link_take(struct relay_link *l, const char *bytes, size_t n);
void relay_link_closed(struct relay_link *l, bool again);

/* For the table of the runtime. */
void relay_link_send(struct runtime *r, struct runtime_link *link, const struct to_conductor *m);
void relay_link_unlink(struct runtime *r, struct runtime_link *link);
/* Sends a message of the runtime's own; false = no link. */
bool relay_link_say(struct relay_link *l, const struct to_conductor *m);
/* Asks the conductor for its log, from log_offset on; false = no link. */
bool relay_link_ask_log(struct relay_link *l);

#endif
