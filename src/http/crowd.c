/* Owns the limits on connections by who is at the other end: a process on the unix socket, an
 * address over TCP.
 *
 * A peer that has too many is told so at once. Connections over TCP whose client has not sent
 * a token yet are limited together: the one that has waited longest makes room for a new one,
 * so that clients that only connect cannot keep out those that have one. */
#include "http/crowd.h"

#include <string.h>
#include <sys/socket.h>

#include "http/internal.h"

/* The address without the port. */
static size_t host_length(const struct peer *p)
{
    const char *colon = strrchr(p->address, ':');
    return colon ? (size_t)(colon - p->address) : strlen(p->address);
}

static bool same_peer(const struct peer *a, const struct peer *b)
{
    size_t n = host_length(a);
    if (a->local || b->local)
        return a->local && b->local && a->pid == b->pid;
    return n == host_length(b) && !memcmp(a->address, b->address, n);
}

static void close_oldest_stranger(struct http_server *s)
{
    struct conn *oldest = NULL;
    for (struct conn *c = s->conns; c; c = c->next) /* the newest first */
        if (!c->known && !c->crowded_out)
            oldest = c;
    if (!oldest)
        return;
    oldest->crowded_out = true;
    shutdown(oldest->fd, SHUT_RDWR); /* MHD closes it */
}

bool crowd_admit(const struct conn *new)
{
    static const char many[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                               "Content-Length: 0\r\nConnection: close\r\n\r\n";
    struct http_server *s = new->server;
    unsigned same = 0, strangers = 0;
    for (const struct conn *c = s->conns; c; c = c->next) {
        same += same_peer(&c->peer, &new->peer);
        strangers += !c->known && !c->crowded_out;
    }
    if (same >= s->limits.peer_connections) {
        if (new->listener->local || !s->tls)
            send(new->fd, many, sizeof many - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        return false;
    }
    if (!new->known && strangers >= s->limits.strangers)
        close_oldest_stranger(s);
    return true;
}
