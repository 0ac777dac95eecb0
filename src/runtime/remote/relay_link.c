/* Owns the conversation with a conductor through its relay: messages and parts of the log. */
#include "runtime/remote/relay_link.h"

#include "protocol/relay.h"

#define PAUSE_FIRST (USEC_PER_SEC / 5)
#define CONNECT_LIMIT (30 * USEC_PER_SEC)
#define PAUSE_LONGEST (5 * USEC_PER_SEC)

/* One connection. The server has a pointer to `base`. */
struct relay_talk {
    struct runtime_link base;
    struct relay_link *link;
    struct relay in;
    struct arena arena; /* of the message that is being handled */
    bool heard;         /* it has said something */
    bool busy, ended;   /* a message is being handled; it was ended meanwhile */
};

void relay_link_init(struct relay_link *l, const struct relay_link_ops *ops, void *ctx,
                     struct runtime *r, struct runtime_host *h, struct attempt_id id)
{
    *l = (struct relay_link){.ops = ops,
                             .ctx = ctx,
                             .runtime = r,
                             .host = h,
                             .id = id,
                             .at = USEC_NEVER,
                             .log_offset = -1};
}

/* ---- the end ----------------------------------------------------------------------------- */

static void free_talk(struct relay_talk *t)
{
    relay_done(&t->in);
    arena_done(&t->arena);
    free(t);
}

void relay_link_end(struct relay_link *l)
{
    struct relay_talk *t = l->talk;
    l->ops->hang_up(l->ctx);
    l->connecting = false;
    l->at = USEC_NEVER;
    if (!t)
        return;
    l->talk = NULL;
    t->ended = true;
    if (!t->busy)
        free_talk(t);
}

void relay_link_drop(struct relay_link *l)
{
    if (l->talk && l->talk->heard)
        l->host->unlinked(l->host, &l->talk->base);
    relay_link_end(l);
}

void relay_link_unlink(struct runtime *r, struct runtime_link *base)
{
    struct relay_talk *t = (struct relay_talk *)base;
    (void)r;
    relay_link_end(t->link);
}

static void try_again(struct relay_link *l)
{
    usec_t pause = l->pause;
    relay_link_drop(l);
    l->at = l->host->now(l->host) + pause;
    l->pause = pause * 2 < PAUSE_LONGEST ? pause * 2 : PAUSE_LONGEST;
}

void relay_link_closed(struct relay_link *l, bool again)
{
    if (again)
        try_again(l);
    else
        relay_link_drop(l);
}

/* ---- what is said ------------------------------------------------------------------------- */

static void take_message(struct relay_talk *t, const struct relay_item *item)
{
    struct runtime_host *h = t->link->host;
    struct to_server m;
    struct err err;
    arena_reset(&t->arena);
    if (to_server_decode(item->bytes, item->n, &t->arena, &m, &err) == 0) {
        t->heard = true;
        h->message(h, &t->base, &m);
    } else {
        try_again(t->link);
    }
}

static void take_log(struct relay_link *l, const struct relay_item *item)
{
    l->log_offset = item->n ? item->offset + (int64_t)item->n : -1;
    l->host->log(l->host, l->id, item->offset, item->bytes, item->n);
}

/* The server may end the link, and forget the attempt, while it is told something. */
void relay_link_take(struct relay_link *l, const char *bytes, size_t n)
{
    struct relay_talk *t = l->talk;
    struct relay_item item;
    int got = 0;
    if (!t)
        return;
    relay_add(&t->in, bytes, n);
    t->busy = true;
    while (!t->ended && (got = relay_take(&t->in, &item)) > 0) {
        if (item.kind == RELAY_LOG)
            take_log(l, &item);
        else
            take_message(t, &item);
    }
    if (!t->ended && got < 0)
        try_again(l);
    t->busy = false; /* NOLINT(clang-analyzer-unix.Malloc): it is not freed while it is busy */
    if (t->ended)
        free_talk(t);
}

void relay_link_send(struct runtime *r, struct runtime_link *base, const struct to_conductor *m)
{
    const struct relay_talk *t = (struct relay_talk *)base;
    struct str line = {0};
    (void)r;
    to_conductor_encode(m, &line);
    if (!t->ended)
        t->link->ops->send(t->link->ctx, line.at, line.n);
    str_done(&line);
}

bool relay_link_say(struct relay_link *l, const struct to_conductor *m)
{
    if (!l->talk)
        return false;
    relay_link_send(l->runtime, &l->talk->base, m);
    return true;
}

bool relay_link_ask_log(struct relay_link *l)
{
    struct str line = {0};
    if (!l->talk)
        return false;
    relay_add_log(&line, l->log_offset, 0);
    l->ops->send(l->ctx, line.at, line.n);
    str_done(&line);
    return true;
}

/* ---- the beginning ------------------------------------------------------------------------ */

void relay_link_opened(struct relay_link *l)
{
    struct relay_talk *t = xcalloc(1, sizeof *t);
    t->base.runtime = l->runtime;
    t->link = l;
    l->talk = t;
    l->connecting = false;
    l->at = USEC_NEVER;
    l->pause = PAUSE_FIRST;
    if (l->log_offset >= 0)
        relay_link_ask_log(l);
}

void relay_link_want(struct relay_link *l)
{
    if (l->talk || l->connecting || l->at != USEC_NEVER)
        return;
    l->at = 0;
    l->pause = PAUSE_FIRST;
}

usec_t relay_link_due(const struct relay_link *l)
{
    return l->at;
}

void relay_link_turn(struct relay_link *l)
{
    if (l->connecting) { /* an engine that has just come back may never answer */
        try_again(l);
        return;
    }
    l->at = l->host->now(l->host) + CONNECT_LIMIT;
    l->connecting = true;
    l->ops->connect(l->ctx);
}
